'use server';
/** The server action that takes a snapshot. */
import { refresh } from 'next/cache';
import { sizeInWords, tookInWords } from '#components/ui/durations.ts';
import { takeSnapshotSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../../caller.ts';
import { boundInstanceId, textField } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';
import type { SnapshotState } from './snapshot-form.tsx';

export async function takeSnapshot(bound: string, _previous: SnapshotState, form: FormData): Promise<SnapshotState> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(`/sandboxes/${id}?tab=snapshots`);
  const tag = textField(form, 'tag');
  const parsed = takeSnapshotSchema.safeParse(tag === '' ? {} : { tag });
  if (!parsed.success) return { tag, error: parsed.error.issues[0]?.message ?? 'is not valid', outcome: null };
  const started = performance.now();
  try {
    const snapshot = await getHost().operations.takeSnapshot(caller, id, parsed.data);
    refresh();
    const says = `It is kept: ${sizeInWords(snapshot.bytes)}, in ${tookInWords(performance.now() - started)}.`;
    return { tag: '', outcome: { ok: true, says }, made: snapshot.id };
  } catch (error) {
    return { tag, outcome: { ok: false, ...problemInWords(problemOf(error, caller)) } };
  }
}
