'use server';
/** Runs read-only SQL over a sandbox's files. It wakes nothing. */
import type { SqlState } from '#app/sandboxes/[id]/sql-box.tsx';
import { sqlSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { boundInstanceId, textField } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';

export async function runSql(bound: string, _previous: SqlState, form: FormData): Promise<SqlState> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(`/sandboxes/${id}`);
  const sql = textField(form, 'sql').replace(/\r\n/g, '\n');
  const nothing = { sql, answer: null, tookMs: 0 };
  const parsed = sqlSchema.safeParse({ sql });
  if (!parsed.success) {
    const says = sql === '' ? 'There is no query to run.' : 'The query is too long: at most 100 000 characters.';
    return { ...nothing, problem: { says } };
  }
  const started = performance.now();
  try {
    const answer = await getHost().operations.query(caller, id, {}, parsed.data);
    return { sql, answer, tookMs: performance.now() - started, problem: null };
  } catch (error) {
    return { ...nothing, problem: problemInWords(problemOf(error, caller)) };
  }
}
