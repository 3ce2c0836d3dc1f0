'use server';
/** The server action that makes the first example. */
import { redirect } from 'next/navigation';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import { getHost } from '#lib/host/host.ts';
import { requireCaller } from '../caller.ts';
import { problemInWords, problemOf } from '../problem.ts';
import { FIRST_ID, FIRST_TENANT, makeFirstExample } from './first-example.ts';

/** Makes the example and opens it. */
export async function tryFirstExample(_previous: ActionOutcome | null): Promise<ActionOutcome | null> {
  const caller = await requireCaller('/');
  try {
    await makeFirstExample(getHost().operations, caller, caller.tenants?.[0] ?? FIRST_TENANT);
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
  redirect(`/sandboxes/${FIRST_ID}`);
}
