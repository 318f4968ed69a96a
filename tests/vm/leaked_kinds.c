// SPDX-License-Identifier: GPL-2.0-or-later
// A kernel module that leaks two kinds of objects in caches of kmalloc, for objects_test.py.
#include <linux/list.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

struct leaked_session;
struct leaked_session_ops {
	int (*start)(struct leaked_session *session);
	void (*stop)(struct leaked_session *session);
};

struct leaked_session {  // 160 bytes: kmalloc-192
	struct list_head list;
	const struct leaked_session_ops *ops;
	u64 id;
	char name[24];
	u8 data[104];
};

struct leaked_request {  // 88 bytes: kmalloc-96
	u32 state;
	u32 tag;
	struct work_struct work;
	struct leaked_session *session;
	u8 data[40];
};

static LIST_HEAD(sessions);

static int start_session(struct leaked_session *session)
{
	return session->id == 0;
}

static void stop_session(struct leaked_session *session)
{
	session->id = 0;
}

static const struct leaked_session_ops session_ops = { .start = start_session, .stop = stop_session };

static void do_request(struct work_struct *work)
{
}

static unsigned int count = 1000;
module_param(count, uint, 0444);

static int __init leak(void)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct leaked_session *session = kzalloc(sizeof(*session), GFP_KERNEL);
		struct leaked_request *request = kzalloc(sizeof(*request), GFP_KERNEL);

		if (!session || !request)
			return -ENOMEM;
		list_add_tail(&session->list, &sessions);
		session->ops = &session_ops;
		session->id = i;
		snprintf(session->name, sizeof(session->name), "session-%u", i);
		INIT_WORK(&request->work, do_request);
		request->tag = i;
		request->session = session;
	}
	return 0;
}
module_init(leak);

MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Leaks objects for a test");
