/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Contiguous buffers that a service pool recycles.
 */

#ifndef _LINUX_SUNRPC_SVC_GRANULES_H
#define _LINUX_SUNRPC_SVC_GRANULES_H

#include <linux/types.h>

struct page;
struct seq_file;
struct svc_granules;
struct svc_granules_pool;
struct svc_pool;
struct svc_rqst;

#ifdef CONFIG_SUNRPC_RUST

/* rust/svc_granules.rs */
struct svc_granules_pool *svc_granules_pool_create(int node);
void svc_granules_pool_destroy(struct svc_granules_pool *pool);
void svc_granules_show(struct seq_file *file, struct svc_granules_pool *pool);

struct svc_granules *svc_granules_create(struct svc_granules_pool *pool,
					 unsigned long max_pages);
void svc_granules_destroy(struct svc_granules *granules);

unsigned long svc_granules_fill_call(struct svc_granules *granules,
				     struct page **pages,
				     unsigned long nr_pages,
				     unsigned long used);
unsigned long svc_granules_fill_reply(struct svc_granules *granules,
				      struct page **pages,
				      unsigned long nr_pages,
				      unsigned long used);

/* svc_granules.c */
void svc_rqst_init_granules(struct svc_rqst *rqstp, int node);
void svc_rqst_exit_granules(struct svc_rqst *rqstp);
void svc_pool_exit_granules(struct svc_pool *pool);
unsigned long svc_rqst_fill_call(struct svc_rqst *rqstp, unsigned long used);
unsigned long svc_rqst_fill_reply(struct svc_rqst *rqstp, unsigned long used);
void svc_rqst_exchange_call(struct svc_rqst *rqstp, unsigned long used);

#else

static inline void svc_rqst_init_granules(struct svc_rqst *rqstp, int node)
{
}

static inline void svc_rqst_exit_granules(struct svc_rqst *rqstp)
{
}

static inline void svc_pool_exit_granules(struct svc_pool *pool)
{
}

static inline unsigned long svc_rqst_fill_call(struct svc_rqst *rqstp,
					       unsigned long used)
{
	return 0;
}

static inline unsigned long svc_rqst_fill_reply(struct svc_rqst *rqstp,
						unsigned long used)
{
	return 0;
}

static inline void svc_rqst_exchange_call(struct svc_rqst *rqstp,
					  unsigned long used)
{
}

#endif /* CONFIG_SUNRPC_RUST */

#endif /* _LINUX_SUNRPC_SVC_GRANULES_H */
