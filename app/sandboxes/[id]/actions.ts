'use server';
/** Server actions of a sandbox's page. Each answers with the real outcome, in words. */
import { refresh } from 'next/cache';
import { wakeEventInWords } from '#components/ledger/event-words.ts';
import type { MoveOutcome } from '#components/sandbox/moves.tsx';
import { tookInWords } from '#components/ui/durations.ts';
import type { ActionOutcome } from '#components/ui/outcome.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import type { InstanceId } from '#lib/base/ids.ts';
import { type PatchInput, reasonSchema } from '#lib/contract/schema.ts';
import { getHost } from '#lib/host/host.ts';
import { VERBS, type Verb } from '#lib/lifecycle/state-map.ts';
import { renderedAt, requireCaller } from '../../caller.ts';
import { boundInstanceId, textField } from '../../form-values.ts';
import { problemInWords, problemOf } from '../../problem.ts';

const HOUR = 3600;

/** What force would do, by the code of the refusal that it overcomes. */
const FORCE_WOULD: Readonly<Record<string, string>> = {
  conflict: 'End the running calls at once.',
  corrupt: 'Clear the fault and try to open the file once more.',
  missing_file: 'Clear the fault and look for the file once more.',
  unknown_state: 'Clear the fault and try once more.',
};

async function carryOut(
  caller: Caller,
  id: InstanceId,
  verb: Verb,
  input: { reason?: string; force?: boolean },
): Promise<string> {
  const { operations } = getHost();
  const started = performance.now();
  const took = () => tookInWords(performance.now() - started);
  switch (verb) {
    case 'resume': {
      const answer = await operations.resume(caller, id, input);
      return answer.path === 'warm' ? 'It was awake already.' : `It is awake. ${wakeEventInWords(answer)}`;
    }
    case 'suspend':
      await operations.suspend(caller, id, input);
      return `It is suspended. That took ${took()}.`;
    case 'freeze':
      await operations.freeze(caller, id, input);
      return `It is frozen. That took ${took()}.`;
    case 'archive':
      await operations.archive(caller, id, input);
      return `It is archived. That took ${took()}.`;
    case 'revive': {
      await operations.revive(caller, id, input);
      const { items } = await operations.instanceEvents(caller, id, { type: 'transition', limit: 1 });
      return `It is awake again. ${wakeEventInWords(items[0] ?? { took_ms: performance.now() - started })}`;
    }
    case 'delete':
      await operations.deleteInstance(caller, id, input.reason === undefined ? {} : { reason: input.reason });
      return 'It is deleted. Its ledger stays.';
  }
}

/** Moves the sandbox. Revive needs a reason, delete the typed id. */
export async function moveSandbox(
  bound: string,
  _previous: MoveOutcome | null,
  form: FormData,
): Promise<MoveOutcome | null> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(`/sandboxes/${id}`);
  const verb = VERBS.find((known) => known === textField(form, 'verb'));
  if (verb === undefined) return null;
  const reason = textField(form, 'reason');
  const refuse = (says: string, hint?: string, force: string | null = null): MoveOutcome => ({
    ok: false,
    verb,
    says,
    hint,
    reason,
    force,
  });
  if (verb === 'revive' && reason === '') return refuse('Reviving needs a reason: it goes into the ledger.');
  if (!reasonSchema.safeParse(reason).success) return refuse('The reason is too long: at most 1 000 characters.');
  if (verb === 'delete' && textField(form, 'confirm') !== id) {
    return refuse('Nothing was deleted: the typed id is not this sandbox’s.', `Type ${id} to confirm.`);
  }
  try {
    const says = await carryOut(caller, id, verb, {
      reason: reason === '' ? undefined : reason,
      force: textField(form, 'force') === '1' || undefined,
    });
    refresh();
    return { ok: true, verb, says, reason: '', force: null };
  } catch (error) {
    const problem = problemOf(error, caller);
    refresh();
    const { says, hint } = problemInWords(problem);
    return refuse(says, hint, FORCE_WOULD[problem.code] ?? null);
  }
}

/** Holds the idle clock, or lets it run. */
export async function setHold(
  bound: string,
  _previous: ActionOutcome | null,
  form: FormData,
): Promise<ActionOutcome | null> {
  const id = boundInstanceId(bound);
  const caller = await requireCaller(`/sandboxes/${id}`);
  const choice = textField(form, 'hold');
  const { operations } = getHost();
  try {
    const before = await operations.getInstance(caller, id);
    const from = Math.max(renderedAt(), before.hold_until ?? 0);
    const patches: Readonly<Record<string, PatchInput>> = {
      'keep-hot': { keep_hot: true },
      'let-go': { keep_hot: false },
      hour: { hold_until: from + HOUR },
      release: { hold_until: null },
    };
    const patch = patches[choice];
    if (patch === undefined) return null;
    await operations.patchInstance(caller, id, patch);
    refresh();
    return null;
  } catch (error) {
    return { ok: false, ...problemInWords(problemOf(error, caller)) };
  }
}
