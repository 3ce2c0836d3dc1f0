/** The prepared statements of schedules and their runs. Knows no rule. */
import {
  and,
  asc,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  isNotNull,
  lt,
  lte,
  ne,
  notExists,
  placeholder,
  type Queries,
} from '../../../db/drizzle.ts';
import { instances, scheduleRuns, scheduleSyncs, schedules } from '../../../db/schema.ts';
import { boundColumns, boundValue } from './bound-values.ts';
import type { StatementMaker } from './statements.ts';

const { seq, ...SCHEDULE } = getTableColumns(schedules);
const { id: _, instance: _2, tenant: _3, source: _4, declaration: _5, created: _6, actor: _7, ...MUTABLE } = SCHEDULE;
const { seq: runSeq, ownerHost, ownerToken, ...RUN } = getTableColumns(scheduleRuns);

/** The sandbox of a schedule, when it is another host's. */
function elsewhere(queries: Queries) {
  return queries
    .select({ id: instances.id })
    .from(instances)
    .where(and(eq(instances.id, schedules.instance), ne(instances.ownerHost, placeholder('host'))));
}

export function scheduleStatements(database: StatementMaker) {
  const byId = eq(schedules.id, placeholder('id'));
  const ofInstance = eq(schedules.instance, placeholder('instance'));
  const isArmed = isNotNull(schedules.fireAt);
  const counted = (where: ReturnType<typeof and>) =>
    database.statement((queries) => queries.select({ n: count() }).from(schedules).where(where).prepare());
  return {
    insert: database.statement((queries) => queries.insert(schedules).values(boundColumns(SCHEDULE)).prepare()),
    update: database.statement((queries) => queries.update(schedules).set(boundColumns(MUTABLE)).where(byId).prepare()),
    remove: database.statement((queries) => queries.delete(schedules).where(byId).prepare()),
    get: database.statement((queries) => queries.select(SCHEDULE).from(schedules).where(byId).prepare()),
    getOf: database.statement((queries) =>
      queries.select(SCHEDULE).from(schedules).where(and(byId, ofInstance)).prepare(),
    ),
    list: database.statement((queries) =>
      queries
        .select({ ...SCHEDULE, seq })
        .from(schedules)
        .where(and(ofInstance, gt(seq, placeholder('seq'))))
        .orderBy(asc(seq))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    declared: database.statement((queries) =>
      queries
        .select(SCHEDULE)
        .from(schedules)
        .where(and(eq(schedules.instance, placeholder('instance')), isNotNull(schedules.declaration)))
        .orderBy(asc(seq))
        .prepare(),
    ),
    due: database.statement((queries) =>
      queries
        .select({ id: schedules.id, tenant: schedules.tenant })
        .from(schedules)
        .where(and(isArmed, lte(schedules.fireAt, placeholder('now'))))
        .orderBy(asc(schedules.fireAt))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    earliest: database.statement((queries) =>
      queries
        .select({ fireAt: schedules.fireAt })
        .from(schedules)
        .where(isArmed)
        .orderBy(asc(schedules.fireAt))
        .limit(1)
        .prepare(),
    ),
    dueOf: database.statement((queries) =>
      queries
        .select({ id: schedules.id, tenant: schedules.tenant })
        .from(schedules)
        .where(and(isArmed, lte(schedules.fireAt, placeholder('now')), notExists(elsewhere(queries))))
        .orderBy(asc(schedules.fireAt))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    earliestOf: database.statement((queries) =>
      queries
        .select({ fireAt: schedules.fireAt })
        .from(schedules)
        .where(and(isArmed, notExists(elsewhere(queries))))
        .orderBy(asc(schedules.fireAt))
        .limit(1)
        .prepare(),
    ),
    armed: database.statement((queries) =>
      queries
        .select({ ...SCHEDULE, seq })
        .from(schedules)
        .where(and(isArmed, gt(seq, placeholder('seq'))))
        .orderBy(asc(seq))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    /** Those that are due at one second, no more than `limit`. */
    dueAt: database.statement((queries) =>
      queries
        .select({ id: schedules.id })
        .from(schedules)
        .where(and(isArmed, eq(schedules.nextAt, placeholder('nextAt'))))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    interrupted: database.statement((queries) =>
      queries.select(SCHEDULE).from(schedules).where(isNotNull(schedules.run)).prepare(),
    ),
    failing: database.statement((queries) =>
      queries
        .select(SCHEDULE)
        .from(schedules)
        .where(and(gt(schedules.failures, 0).inlineParams(), gte(schedules.failures, placeholder('least'))))
        .orderBy(desc(schedules.failures))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    stateOf: database.statement((queries) =>
      queries
        .select({ state: instances.state })
        .from(instances)
        .where(eq(instances.id, placeholder('instance')))
        .prepare(),
    ),
    dockedTo: database.statement((queries) =>
      queries
        .select({ workbook: instances.workbook, workbookVersion: instances.workbookVersion })
        .from(instances)
        .where(eq(instances.id, placeholder('id')))
        .prepare(),
    ),
    unsynchronised: database.statement((queries) =>
      queries.select().from(scheduleSyncs).limit(placeholder('limit')).prepare(),
    ),
    removeSync: database.statement((queries) =>
      queries
        .delete(scheduleSyncs)
        .where(eq(scheduleSyncs.instance, placeholder('id')))
        .prepare(),
    ),
    ofInstance: counted(ofInstance),
    countArmed: counted(isArmed),
    countDue: counted(and(isArmed, lte(schedules.fireAt, placeholder('now')))),
    countRunning: counted(isNotNull(schedules.run)),
    countFailing: counted(gt(schedules.failures, 0).inlineParams()),
    countResting: counted(eq(schedules.resting, true).inlineParams()),

    insertRun: database.statement((queries) =>
      queries
        .insert(scheduleRuns)
        .values(boundColumns({ ...RUN, ownerHost, ownerToken }))
        .prepare(),
    ),
    endRun: database.statement((queries) =>
      queries
        .update(scheduleRuns)
        .set({
          tookMs: boundValue('tookMs'),
          result: boundValue('result'),
          error: boundValue('error'),
          exitCode: boundValue('exitCode'),
          woke: boundValue('woke'),
        })
        .where(eq(scheduleRuns.id, placeholder('id')))
        .prepare(),
    ),
    getRun: database.statement((queries) =>
      queries
        .select(RUN)
        .from(scheduleRuns)
        .where(eq(scheduleRuns.id, placeholder('id')))
        .prepare(),
    ),
    runs: database.statement((queries) =>
      queries
        .select({ ...RUN, seq: runSeq })
        .from(scheduleRuns)
        .where(and(eq(scheduleRuns.schedule, placeholder('schedule')), lt(runSeq, placeholder('seq'))))
        .orderBy(desc(runSeq))
        .limit(placeholder('limit'))
        .prepare(),
    ),
    /** The newest run that is one too many. */
    surplusRun: database.statement((queries) =>
      queries
        .select({ seq: runSeq })
        .from(scheduleRuns)
        .where(eq(scheduleRuns.schedule, placeholder('schedule')))
        .orderBy(desc(runSeq))
        .limit(1)
        .offset(placeholder('keep'))
        .prepare(),
    ),
    removeRuns: database.statement((queries) =>
      queries
        .delete(scheduleRuns)
        .where(and(eq(scheduleRuns.schedule, placeholder('schedule')), lte(runSeq, placeholder('seq'))))
        .prepare(),
    ),
  };
}
