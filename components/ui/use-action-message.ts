'use client';
/** For a form that disappears when it succeeds, such as a row that leaves its list: a toast says that it succeeded. */
import { useActionState, useEffect, useState } from 'react';
import type { ActionOutcome } from './outcome.tsx';
import { toast } from './toasts.tsx';

/**
 * Like `useActionState`: returns the outcome to show in place, and the form's action. With scripts, a success is shown
 * as a toast instead of in place.
 */
export function useActionMessage(
  action: (previous: ActionOutcome | null, form: FormData) => Promise<ActionOutcome>,
  about: string,
): [outcome: ActionOutcome | null, submit: (form: FormData) => void] {
  const [canSay, setCanSay] = useState(false);
  useEffect(() => setCanSay(true), []);
  const say = async (previous: ActionOutcome | null, form: FormData) => {
    const outcome = await action(previous, form);
    if (outcome.ok) toast({ ...outcome, says: `${about}: ${outcome.says}` });
    return outcome;
  };
  const [outcome, submit] = useActionState(canSay ? say : action, null);
  return [canSay && outcome?.ok === true ? null : outcome, submit];
}
