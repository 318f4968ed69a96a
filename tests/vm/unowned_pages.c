// SPDX-License-Identifier: GPL-2.0-or-later
// A kernel module that leaks pages in no counter, for owners_test.py. No owner is known for most of them. The others
// belong to a page pool, which the kernel names.
#include <linux/gfp.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/net_namespace.h>
#include <net/page_pool/helpers.h>

static unsigned int single = 1024;  // pages of order 0
module_param(single, uint, 0444);
static unsigned int blocks = 128;  // compound pages of order 3
module_param(blocks, uint, 0444);
static unsigned int pooled = 256;  // pages of the page pool
module_param(pooled, uint, 0444);

static int __init leak(void)
{
	struct page_pool_params params = {
		.pool_size = 256,
		.nid = NUMA_NO_NODE,
		.netdev = init_net.loopback_dev,
	};
	struct page_pool *pool = page_pool_create(&params);
	unsigned int i;

	if (IS_ERR(pool))
		return PTR_ERR(pool);
	for (i = 0; i < single; i++)
		if (!alloc_page(GFP_KERNEL))
			return -ENOMEM;
	for (i = 0; i < blocks; i++)
		if (!alloc_pages(GFP_KERNEL | __GFP_COMP, 3))
			return -ENOMEM;
	for (i = 0; i < pooled; i++)
		if (!page_pool_alloc_pages(pool, GFP_KERNEL))
			return -ENOMEM;
	return 0;
}

module_init(leak);
MODULE_LICENSE("GPL");
