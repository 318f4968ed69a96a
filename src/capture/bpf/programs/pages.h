/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

enum { KMT_PAGE_PAIRS = 64 /* a power of two */ };
