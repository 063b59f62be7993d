// SPDX-License-Identifier: GPL-2.0
/*
 * KUnit tests for the helpers that describe pages with multipage bio_vecs.
 *
 * An oracle describes each range one page at a time. What the helpers make
 * of it must cover the same bytes in the same order. With CONFIG_SUNRPC_RUST
 * the C implementation is built here under other names, and both must agree
 * to the last entry.
 */

#include <kunit/test.h>
#include <linux/mm.h>
#include <linux/prandom.h>
#include <linux/slab.h>
#include <linux/sunrpc/svc_pages.h>
#include <linux/sunrpc/xdr.h>

#ifdef CONFIG_SUNRPC_RUST
#define svc_pages_to_bvec	c_svc_pages_to_bvec
#define svc_pages_to_bvecs	c_svc_pages_to_bvecs
static unsigned int
c_svc_pages_to_bvec(struct bio_vec *bv, struct page *const *pages,
		    unsigned int nr_pages, unsigned int offset,
		    unsigned int len, unsigned int max_bvec_len);
static unsigned int
c_svc_pages_to_bvecs(struct bio_vec *bvecs, struct page *const *pages,
		     unsigned int nr_pages, unsigned int offset,
		     unsigned int len, unsigned int max_bvec_len);
#include "svc_pages.c"
#undef svc_pages_to_bvec
#undef svc_pages_to_bvecs
#endif

#define BLOCK_PAGES	256U
#define BLOCK_ORDER	get_order(BLOCK_PAGES * PAGE_SIZE)
#define MAX_SLOTS	64U
#define MAX_BVECS	1024U

/* Arguments of the helpers, less the array to fill. */
struct svc_pages_range {
	struct page	*pages[MAX_SLOTS + 1];
	unsigned int	nr_pages;
	unsigned int	offset;
	unsigned int	len;
	unsigned int	cap;
};

struct svc_pages_ctx {
	struct page		*block;		/* contiguous pages */
	struct svc_pages_range	range;
	struct bio_vec		bvecs[MAX_BVECS];
	struct bio_vec		other[MAX_BVECS];
	struct rnd_state	rnd;
};

static u32 below(struct svc_pages_ctx *ctx, u32 ceiling)
{
	return prandom_u32_state(&ctx->rnd) % ceiling;
}

static struct page *block_page(struct svc_pages_ctx *ctx, unsigned int nr)
{
	return ctx->block + nr;
}

/* A page array with runs, repetitions, backward runs and missing pages. */
static void random_pages(struct svc_pages_ctx *ctx)
{
	struct svc_pages_range *range = &ctx->range;
	unsigned int i, nr = below(ctx, BLOCK_PAGES);

	range->nr_pages = 1 + below(ctx, MAX_SLOTS);
	for (i = 0; i < range->nr_pages; i++) {
		switch (below(ctx, 16)) {
		case 0:
			nr = below(ctx, BLOCK_PAGES);
			break;
		case 1:
			nr = (nr + BLOCK_PAGES - 1) % BLOCK_PAGES;
			break;
		case 2:
			break;
		default:
			nr = (nr + 1) % BLOCK_PAGES;
		}
		range->pages[i] = block_page(ctx, nr);
	}
	if (range->nr_pages > 1 && !below(ctx, 4))
		range->pages[1 + below(ctx, range->nr_pages - 1)] = NULL;
}

static void random_range(struct svc_pages_ctx *ctx)
{
	struct svc_pages_range *range = &ctx->range;

	random_pages(ctx);
	range->offset = below(ctx, 2) ? below(ctx, PAGE_SIZE) : 0;
	range->len = 1 + below(ctx, (range->nr_pages + 1) * PAGE_SIZE);
	switch (below(ctx, 4)) {
	case 0:
		range->cap = UINT_MAX;
		break;
	case 1:
		range->cap = PAGE_SIZE / 8 + below(ctx, 2 * PAGE_SIZE);
		break;
	default:
		range->cap = PAGE_SIZE * (1 + below(ctx, 20)) + below(ctx, 3);
	}
}

typedef unsigned int (*bvecs_fn)(struct bio_vec *bvecs,
				 struct page *const *pages,
				 unsigned int nr_pages, unsigned int offset,
				 unsigned int len, unsigned int max_bvec_len);

static unsigned int call(bvecs_fn fn, struct bio_vec *bvecs,
			 const struct svc_pages_range *range)
{
	return fn(bvecs, range->pages, range->nr_pages, range->offset,
		  range->len, range->cap);
}

/* Is the page of the byte at @pos what entry @bv says for its byte @into? */
static bool same_byte(const struct bio_vec *bv, unsigned int into,
		      const struct svc_pages_range *range, u64 pos)
{
	u64 at = (u64)bv->bv_offset + into;

	return bv->bv_page + (at >> PAGE_SHIFT) ==
		       range->pages[pos >> PAGE_SHIFT] &&
	       offset_in_page(at) == offset_in_page(pos);
}

/* The first and the last byte that an entry has in each page it touches. */
static void expect_same_bytes(struct kunit *test, const struct bio_vec *bv,
			      const struct svc_pages_range *range, u64 pos)
{
	unsigned int into = 0, last;

	while (into < bv->bv_len) {
		last = min_t(unsigned int, bv->bv_len,
			     into + PAGE_SIZE - offset_in_page(pos + into)) - 1;
		KUNIT_ASSERT_TRUE(test, same_byte(bv, into, range, pos + into));
		KUNIT_ASSERT_TRUE(test, same_byte(bv, last, range, pos + last));
		into = last + 1;
	}
}

/* Can the range be described at all? */
static bool describable(const struct svc_pages_range *range)
{
	u64 end = (u64)range->offset + range->len;
	unsigned int i;

	if (end > (u64)range->nr_pages << PAGE_SHIFT)
		return false;
	for (i = 0; (u64)i << PAGE_SHIFT < end; i++)
		if (!range->pages[i])
			return false;
	return true;
}

static void check_range(struct kunit *test, bvecs_fn fn)
{
	struct svc_pages_ctx *ctx = test->priv;
	struct svc_pages_range *range = &ctx->range;
	unsigned int i, nents;
	u64 pos = range->offset;

	nents = call(fn, NULL, range);
	KUNIT_ASSERT_EQ(test, nents != 0, describable(range));
	if (!nents)
		return;

	KUNIT_ASSERT_LE(test, nents, MAX_BVECS - 1);
	memset(ctx->bvecs, 0xa5, sizeof(ctx->bvecs));
	KUNIT_ASSERT_EQ(test, call(fn, ctx->bvecs, range), nents);
	for (i = 0; i < nents; i++) {
		KUNIT_ASSERT_LE(test, ctx->bvecs[i].bv_len, range->cap);
		expect_same_bytes(test, &ctx->bvecs[i], range, pos);
		pos += ctx->bvecs[i].bv_len;
	}
	KUNIT_ASSERT_EQ(test, pos, (u64)range->offset + range->len);
	KUNIT_EXPECT_EQ(test, ctx->bvecs[nents].bv_len, 0xa5a5a5a5);
}

static void random_ranges_test(struct kunit *test)
{
	unsigned int i;

	for (i = 0; i < 10000; i++) {
		random_range(test->priv);
		check_range(test, svc_pages_to_bvecs);
	}
}

#ifdef CONFIG_SUNRPC_RUST
static void c_and_rust_agree_test(struct kunit *test)
{
	struct svc_pages_ctx *ctx = test->priv;
	struct svc_pages_range *range = &ctx->range;
	unsigned int i, nents;

	for (i = 0; i < 10000; i++) {
		random_range(ctx);
		check_range(test, c_svc_pages_to_bvecs);

		nents = call(svc_pages_to_bvecs, NULL, range);
		KUNIT_ASSERT_EQ(test, nents,
				call(c_svc_pages_to_bvecs, NULL, range));
		if (!nents)
			continue;
		call(svc_pages_to_bvecs, ctx->other, range);
		KUNIT_ASSERT_MEMEQ(test, ctx->bvecs, ctx->other,
				   nents * sizeof(*ctx->bvecs));
	}
}
#endif

static void contiguous(struct svc_pages_ctx *ctx, unsigned int nr_pages)
{
	unsigned int i;

	ctx->range.nr_pages = nr_pages;
	for (i = 0; i < nr_pages; i++)
		ctx->range.pages[i] = block_page(ctx, i);
}

/* KMSAN keeps pages apart. */
static unsigned int expected(unsigned int merged, unsigned int apart)
{
	return IS_ENABLED(CONFIG_KMSAN) ? apart : merged;
}

static void one_entry_test(struct kunit *test)
{
	struct svc_pages_ctx *ctx = test->priv;
	struct bio_vec bv;
	unsigned int len = 16 * PAGE_SIZE - 100;

	contiguous(ctx, 16);
	KUNIT_EXPECT_EQ(test,
			svc_pages_to_bvecs(NULL, ctx->range.pages, 16, 100,
					   len, UINT_MAX),
			expected(1, 16));
	KUNIT_EXPECT_EQ(test,
			svc_pages_to_bvec(&bv, ctx->range.pages, 16, 100, len,
					  UINT_MAX),
			expected(len, PAGE_SIZE - 100));
	KUNIT_EXPECT_PTR_EQ(test, bv.bv_page, ctx->range.pages[0]);
	KUNIT_EXPECT_EQ(test, bv.bv_offset, 100);
	KUNIT_EXPECT_EQ(test, bv.bv_len, expected(len, PAGE_SIZE - 100));
}

static void cap_ends_on_page_boundary_test(struct kunit *test)
{
	struct svc_pages_ctx *ctx = test->priv;
	struct page **pages = ctx->range.pages;
	struct bio_vec bv;

	if (IS_ENABLED(CONFIG_KMSAN))
		kunit_skip(test, "KMSAN keeps pages apart");

	contiguous(ctx, 8);
	svc_pages_to_bvec(&bv, pages, 8, 10, 7 * PAGE_SIZE, 3 * PAGE_SIZE + 9);
	KUNIT_EXPECT_EQ(test, bv.bv_len, 3 * PAGE_SIZE - 10);
	svc_pages_to_bvec(&bv, pages, 8, 10, 7 * PAGE_SIZE, 3 * PAGE_SIZE - 10);
	KUNIT_EXPECT_EQ(test, bv.bv_len, 3 * PAGE_SIZE - 10);
	svc_pages_to_bvec(&bv, pages, 8, 10, 7 * PAGE_SIZE, 100);
	KUNIT_EXPECT_EQ(test, bv.bv_len, 100);
	KUNIT_EXPECT_EQ(test,
			svc_pages_to_bvecs(NULL, pages, 8, 0, 8 * PAGE_SIZE, 1),
			8 * PAGE_SIZE);
}

/* Pages that are out of order, and a missing page in the middle. */
static void gaps_test(struct kunit *test)
{
	struct svc_pages_ctx *ctx = test->priv;
	struct page **pages = ctx->range.pages;

	contiguous(ctx, 8);
	swap(pages[3], pages[4]);
	KUNIT_EXPECT_EQ(test,
			svc_pages_to_bvecs(NULL, pages, 8, 0, 8 * PAGE_SIZE,
					   UINT_MAX),
			expected(4, 8));

	pages[6] = NULL;
	KUNIT_EXPECT_EQ(test,
			svc_pages_to_bvecs(NULL, pages, 8, 0, 8 * PAGE_SIZE,
					   UINT_MAX), 0);
	KUNIT_EXPECT_EQ(test,
			svc_pages_to_bvecs(NULL, pages, 8, 0, 6 * PAGE_SIZE,
					   UINT_MAX),
			expected(4, 6));
}

static void bad_arguments_test(struct kunit *test)
{
	struct svc_pages_ctx *ctx = test->priv;
	struct page **pages = ctx->range.pages;
	static const struct {
		unsigned int nr_pages, offset, len, cap;
	} bad[] = {
		{ 0, 0, 1, 1 },
		{ 4, PAGE_SIZE, 1, 1 },
		{ 4, UINT_MAX, 1, 1 },
		{ 4, 0, 0, 1 },
		{ 4, 0, 1, 0 },
	};
	struct bio_vec bv = { .bv_len = 42 };
	unsigned int i, ret;

	contiguous(ctx, 4);
	kunit_warning_suppress(test) {
		for (i = 0; i < ARRAY_SIZE(bad); i++) {
			ret = svc_pages_to_bvec(&bv, pages, bad[i].nr_pages,
						bad[i].offset, bad[i].len,
						bad[i].cap);
			KUNIT_EXPECT_EQ(test, ret, 0);
			ret = svc_pages_to_bvecs(&bv, pages, bad[i].nr_pages,
						 bad[i].offset, bad[i].len,
						 bad[i].cap);
			KUNIT_EXPECT_EQ(test, ret, 0);
		}
		pages[0] = NULL;
		KUNIT_EXPECT_EQ(test,
				svc_pages_to_bvec(&bv, pages, 4, 0, 1, 1), 0);
	}
	KUNIT_EXPECT_EQ(test, bv.bv_len, 42);
}

static void lengths_do_not_wrap_test(struct kunit *test)
{
	struct svc_pages_ctx *ctx = test->priv;
	struct page **pages = ctx->range.pages;

	contiguous(ctx, 2);
	KUNIT_EXPECT_EQ(test,
			svc_pages_to_bvec(NULL, pages, 2, PAGE_SIZE - 1,
					  UINT_MAX, UINT_MAX),
			expected(PAGE_SIZE + 1, 1));
	KUNIT_EXPECT_EQ(test,
			svc_pages_to_bvec(NULL, pages, 2, PAGE_SIZE - 1,
					  UINT_MAX, UINT_MAX - 1),
			expected(PAGE_SIZE + 1, 1));
	KUNIT_EXPECT_EQ(test,
			svc_pages_to_bvecs(NULL, pages, 2, PAGE_SIZE - 1,
					   UINT_MAX, UINT_MAX), 0);
}

/* page_base is an offset into the array, not into its first page. */
static void xdr_buf_page_base_test(struct kunit *test)
{
	struct svc_pages_ctx *ctx = test->priv;
	struct xdr_buf xdr = {
		.pages		= ctx->range.pages,
		.page_base	= 2 * PAGE_SIZE + 512,
		.page_len	= PAGE_SIZE,
	};
	int count;

	contiguous(ctx, 8);
	swap(ctx->range.pages[3], ctx->range.pages[5]);
	count = xdr_buf_to_bvec(ctx->bvecs, MAX_BVECS, &xdr);
	KUNIT_ASSERT_EQ(test, count, 2);
	KUNIT_EXPECT_PTR_EQ(test, ctx->bvecs[0].bv_page, block_page(ctx, 2));
	KUNIT_EXPECT_EQ(test, ctx->bvecs[0].bv_offset, 512);
	KUNIT_EXPECT_EQ(test, ctx->bvecs[0].bv_len, PAGE_SIZE - 512);
	KUNIT_EXPECT_PTR_EQ(test, ctx->bvecs[1].bv_page, block_page(ctx, 5));
	KUNIT_EXPECT_EQ(test, ctx->bvecs[1].bv_offset, 0);
	KUNIT_EXPECT_EQ(test, ctx->bvecs[1].bv_len, 512);
}

/* Head, page list and tail, in an array that is just large enough or not. */
static void xdr_buf_room_test(struct kunit *test)
{
	struct svc_pages_ctx *ctx = test->priv;
	struct xdr_buf xdr = {
		.head[0]	= { page_address(ctx->block), 8 },
		.pages		= ctx->range.pages,
		.page_len	= 8 * PAGE_SIZE,
		.tail[0]	= { page_address(ctx->block) + 8, 4 },
	};
	int i, need;

	contiguous(ctx, 8);
	swap(ctx->range.pages[3], ctx->range.pages[4]);
	need = expected(4, 8) + 2;
	for (i = 0; i < need + 2; i++) {
		memset(ctx->bvecs, 0xa5, sizeof(ctx->bvecs));
		KUNIT_EXPECT_EQ(test, xdr_buf_to_bvec(ctx->bvecs, i, &xdr),
				i < need ? -ESERVERFAULT : need);
		KUNIT_EXPECT_EQ(test, ctx->bvecs[i].bv_len, 0xa5a5a5a5);
	}
	KUNIT_EXPECT_EQ(test, ctx->bvecs[0].bv_len, 8);
	KUNIT_EXPECT_EQ(test, ctx->bvecs[need - 1].bv_len, 4);
}

#ifdef CONFIG_SUNRPC_SVC_PAGES_BENCHMARK
#include <linux/sort.h>
#include <linux/timekeeping.h>

#define BENCH_ROUNDS	63
#define BENCH_CALLS	200

static int cmp_u64(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

static u64 median(u64 *samples)
{
	sort(samples, BENCH_ROUNDS, sizeof(*samples), cmp_u64, NULL);
	return samples[BENCH_ROUNDS / 2];
}

/* Nanoseconds for BENCH_CALLS calls. */
static u64 bench_once(bvecs_fn fn, struct bio_vec *bvecs, struct page **pages)
{
	u64 start = ktime_get_ns();
	unsigned int i;

	for (i = 0; i < BENCH_CALLS; i++)
		fn(bvecs, pages, BLOCK_PAGES, 0, BLOCK_PAGES * PAGE_SIZE,
		   UINT_MAX);
	return ktime_get_ns() - start;
}

/* C and Rust take turns on BLOCK_PAGES pages in runs of @run pages. */
static void bench_run(struct kunit *test, struct page **pages,
		      unsigned int run)
{
	struct svc_pages_ctx *ctx = test->priv;
	u64 *c = kunit_kcalloc(test, BENCH_ROUNDS, sizeof(*c), GFP_KERNEL);
	u64 *rust = kunit_kcalloc(test, BENCH_ROUNDS, sizeof(*rust), GFP_KERNEL);
	unsigned int i, scale = BENCH_CALLS * BLOCK_PAGES;
	u64 c_ps, rust_ps, ratio;

	KUNIT_ASSERT_NOT_NULL(test, c);
	KUNIT_ASSERT_NOT_NULL(test, rust);
	for (i = 0; i < BLOCK_PAGES; i++)
		pages[i] = block_page(ctx, (BLOCK_PAGES / run - 1 - i / run) *
						   run + i % run);
	for (i = 0; i < BENCH_ROUNDS; i++) {
		c[i] = bench_once(c_svc_pages_to_bvecs, ctx->bvecs, pages);
		rust[i] = bench_once(svc_pages_to_bvecs, ctx->bvecs, pages);
	}
	c_ps = div_u64(median(c) * 1000, scale);
	rust_ps = div_u64(median(rust) * 1000, scale);
	ratio = div64_u64(rust_ps * 1000, max(c_ps, 1));
	kunit_info(test, "svc_pages_bench: run=%u c=%llu rust=%llu ps/page ratio=%llu.%03llu\n",
		   run, c_ps, rust_ps, ratio / 1000, ratio % 1000);
}

static void benchmark(struct kunit *test)
{
	static const unsigned int runs[] = { 1, 8, 16, BLOCK_PAGES };
	struct page **pages;
	unsigned int i;

	pages = kunit_kcalloc(test, BLOCK_PAGES, sizeof(*pages), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, pages);
	for (i = 0; i < ARRAY_SIZE(runs); i++)
		bench_run(test, pages, runs[i]);
}
#endif

static int svc_pages_test_init(struct kunit *test)
{
	struct svc_pages_ctx *ctx;

	ctx = kunit_kzalloc(test, sizeof(*ctx), GFP_KERNEL);
	if (!ctx)
		return -ENOMEM;
	ctx->block = alloc_pages(GFP_KERNEL, BLOCK_ORDER);
	if (!ctx->block)
		return -ENOMEM;
	prandom_seed_state(&ctx->rnd, 8166);
	test->priv = ctx;
	return 0;
}

static void svc_pages_test_exit(struct kunit *test)
{
	struct svc_pages_ctx *ctx = test->priv;

	if (ctx)
		__free_pages(ctx->block, BLOCK_ORDER);
}

static struct kunit_case svc_pages_test_cases[] = {
	KUNIT_CASE(random_ranges_test),
#ifdef CONFIG_SUNRPC_RUST
	KUNIT_CASE(c_and_rust_agree_test),
#endif
	KUNIT_CASE(one_entry_test),
	KUNIT_CASE(cap_ends_on_page_boundary_test),
	KUNIT_CASE(gaps_test),
	KUNIT_CASE(bad_arguments_test),
	KUNIT_CASE(lengths_do_not_wrap_test),
	KUNIT_CASE(xdr_buf_page_base_test),
	KUNIT_CASE(xdr_buf_room_test),
#ifdef CONFIG_SUNRPC_SVC_PAGES_BENCHMARK
	KUNIT_CASE_SLOW(benchmark),
#endif
	{},
};

static struct kunit_suite svc_pages_test_suite = {
	.name		= "svc_pages",
	.init		= svc_pages_test_init,
	.exit		= svc_pages_test_exit,
	.test_cases	= svc_pages_test_cases,
};

kunit_test_suite(svc_pages_test_suite);

MODULE_DESCRIPTION("KUnit tests for the page array helpers of SUNRPC");
MODULE_LICENSE("GPL");
