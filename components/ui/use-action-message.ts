'use client';
/**
 * For forms that leave the page when they succeed, as a row does that left its list: what went well is said in a
 * corner.
 */
import { useActionState, useEffect, useState } from 'react';
import type { ActionOutcome } from './outcome.tsx';
import { toast } from './toasts.tsx';

/**
 * Like `useActionState`: the outcome to show in place, and what the form does. A success is said by a message
 * and not in place, once scripts run; without them it stays in place.
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
