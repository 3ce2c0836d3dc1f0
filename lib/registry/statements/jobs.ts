/** The statements of jobs, each built on first use. Decides nothing. */
import {
  and,
  asc,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  inArray,
  isNotNull,
  lt,
  max,
  ne,
  placeholder,
} from '../../../db/drizzle.ts';
import { instances, jobPages, jobResults, jobs } from '../../../db/schema.ts';
import type { JobOutcome } from '../jobs.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import { inBoundList, plusBound, rowid, selectBy } from './raw.ts';
import type { StatementMaker } from './statements.ts';

const { seq, state, finished, chosen, done, failed, skipped, ...ASKED } = getTableColumns(jobs);
const { job, ...RESULT } = getTableColumns(jobResults);
const IS_RUNNING = eq(state, 'running').inlineParams();
const OF_JOB = eq(job, placeholder('seq'));
const OF_PAGES = eq(jobPages.job, placeholder('seq'));

/** The columns of an instance that a job may select. */
export const FOUND = {
  row: rowid(instances),
  id: instances.id,
  state: instances.state,
  fault: instances.fault,
  vfsPath: instances.vfsPath,
  ephemeral: instances.ephemeral,
  keepHot: instances.keepHot,
  holdUntil: instances.holdUntil,
};

export function jobStatements(database: StatementMaker) {
  const statement = database.statement.bind(database);
  const shape = database.shape.bind(database);
  return {
    /** An instance by its id, of some tenants or of all. */
    named: (ofTenants: boolean) =>
      shape(`jobs: named ${ofTenants}`, (queries) =>
        queries
          .select(FOUND)
          .from(instances)
          .where(
            and(eq(instances.id, placeholder('id')), ofTenants ? inBoundList(instances.tenant, 'tenants') : undefined),
          )
          .prepare(),
      ),
    /** Those of a list of ids at once, in no order. */
    namedTogether: (ofTenants: boolean) =>
      shape(`jobs: named together ${ofTenants}`, (queries) =>
        queries
          .select(FOUND)
          .from(instances)
          .where(
            and(inBoundList(instances.id, 'ids'), ofTenants ? inBoundList(instances.tenant, 'tenants') : undefined),
          )
          .prepare(),
      ),
    idsOf: statement((queries) =>
      queries
        .select({ row: rowid(instances), id: instances.id })
        .from(instances)
        .where(inBoundList(rowid(instances), 'numbers'))
        .prepare(),
    ),

    insert: statement((queries) =>
      queries
        .insert(jobs)
        .values({ ...boundColumns({ ...ASKED, chosen }), state: 'running' })
        .returning({ seq })
        .prepare(),
    ),
    count: statement((queries) =>
      queries
        .update(jobs)
        .set({
          done: plusBound(done, 'done'),
          failed: plusBound(failed, 'failed'),
          skipped: plusBound(skipped, 'skipped'),
        })
        .where(eq(seq, placeholder('seq')))
        .prepare(),
    ),
    end: statement((queries) =>
      queries
        .update(jobs)
        .set(boundColumns({ state, finished }))
        .where(and(eq(jobs.id, placeholder('id')), IS_RUNNING))
        .prepare(),
    ),
    find: statement((queries) =>
      queries
        .select()
        .from(jobs)
        .where(eq(jobs.id, placeholder('id')))
        .prepare(),
    ),
    tenantsOf: statement((queries) =>
      queries
        .select({ tenants: max(jobs.tenants) })
        .from(jobs)
        .where(eq(jobs.id, placeholder('id')))
        .prepare(),
    ),
    /** Newest first, those before `before`. */
    list: (ofState: boolean) =>
      shape(`jobs: list ${ofState}`, (queries) =>
        queries
          .select()
          .from(jobs)
          .where(and(lt(seq, placeholder('before')), ofState ? eq(state, placeholder('state')) : undefined))
          .orderBy(desc(seq))
          .limit(placeholder('limit'))
          .prepare(),
      ),
    /** The same for jobs that affect only some tenants, by their numbers. */
    concerning: (ofState: boolean) =>
      shape(`jobs: concerning ${ofState}`, (queries) =>
        queries
          .select({ seq, tenants: jobs.tenants })
          .from(jobs)
          .where(
            and(
              lt(seq, placeholder('before')),
              isNotNull(jobs.tenants),
              ofState ? eq(state, placeholder('state')) : undefined,
            ),
          )
          .orderBy(desc(seq))
          .limit(placeholder('limit'))
          .prepare(),
      ),
    numbered: statement((queries) =>
      queries.select().from(jobs).where(inBoundList(seq, 'numbers')).orderBy(desc(seq)).prepare(),
    ),
    running: statement((queries) => queries.select().from(jobs).where(IS_RUNNING).orderBy(asc(seq)).prepare()),
    ended: statement((queries) =>
      queries
        .select({ seq })
        .from(jobs)
        .where(and(ne(state, 'running'), lt(finished, placeholder('before'))))
        .orderBy(asc(seq))
        .limit(1)
        .prepare(),
    ),
    remove: statement((queries) =>
      queries
        .delete(jobs)
        .where(eq(seq, placeholder('seq')))
        .prepare(),
    ),

    insertPage: statement((queries) =>
      queries
        .insert(jobPages)
        .values(boundColumns(getTableColumns(jobPages)))
        .prepare(),
    ),
    page: statement((queries) =>
      queries
        .select({ rows: jobPages.rows })
        .from(jobPages)
        .where(and(OF_PAGES, eq(jobPages.page, placeholder('page'))))
        .prepare(),
    ),
    removePages: statement((queries) => queries.delete(jobPages).where(OF_PAGES).prepare()),

    /** Leaves a position that has a result unchanged. */
    insertResult: statement((queries) =>
      queries
        .insert(jobResults)
        .values({ ...boundColumns(RESULT), job: boundValue('seq') })
        .onConflictDoNothing()
        .prepare(),
    ),
    settled: statement((queries) =>
      queries
        .select({ position: RESULT.position })
        .from(jobResults)
        .where(and(OF_JOB, gte(RESULT.position, placeholder('first')), lt(RESULT.position, placeholder('end'))))
        .prepare(),
    ),
    /**
     * Failed results have an index, which SQLite does not choose by itself: with it, the few of a million take 0.2 ms,
     * without it 100 ms.
     */
    results: (outcome: JobOutcome | undefined) =>
      shape(`jobs: results ${outcome}`, (queries) => {
        const query =
          outcome === undefined || outcome === 'done'
            ? queries.select(RESULT).from(jobResults)
            : selectBy(queries, RESULT, jobResults, 'job_results_by_outcome');
        return query
          .where(
            and(
              OF_JOB,
              outcome === undefined ? undefined : eq(RESULT.outcome, outcome).inlineParams(),
              outcome === undefined || outcome === 'done' ? undefined : ne(RESULT.outcome, 'done').inlineParams(),
              gt(RESULT.position, placeholder('after')),
            ),
          )
          .orderBy(RESULT.position)
          .limit(placeholder('limit'))
          .prepare();
      }),
    removeResults: statement((queries) => {
      const first = queries
        .select({ position: RESULT.position })
        .from(jobResults)
        .where(OF_JOB)
        .orderBy(RESULT.position)
        .limit(placeholder('limit'));
      return queries
        .delete(jobResults)
        .where(and(OF_JOB, inArray(RESULT.position, first)))
        .prepare();
    }),
  };
}
