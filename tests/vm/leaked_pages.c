// SPDX-License-Identifier: GPL-2.0-or-later
// A kernel module that leaks pages and vmalloc areas, for cases_test.py. Each tenth of a second, it allocates as many as
// its parameters say. They can be changed in /sys/module/leaked_pages/parameters.
#include <linux/gfp.h>
#include <linux/module.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>

static unsigned int blocks;
module_param(blocks, uint, 0644);
MODULE_PARM_DESC(blocks, "blocks of four pages to leak");

static unsigned int areas;
module_param(areas, uint, 0644);
MODULE_PARM_DESC(areas, "vmalloc areas of 64 KiB to leak");

static void leak(struct work_struct *work);
static DECLARE_DELAYED_WORK(leaking, leak);

static noinline void leak_blocks(void)
{
	unsigned int i;

	for (i = 0; i < blocks; i++)
		__get_free_pages(GFP_KERNEL, 2);
}

static noinline void leak_areas(void)
{
	unsigned int i;

	for (i = 0; i < areas; i++)
		vmalloc(65536);
}

static void leak(struct work_struct *work)
{
	leak_blocks();
	leak_areas();
	schedule_delayed_work(&leaking, HZ / 10);
}

static int __init start(void)
{
	schedule_delayed_work(&leaking, 1);
	return 0;
}
module_init(start);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Leaks pages for a test");
