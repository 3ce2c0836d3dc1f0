/**
 * Checks the arguments of server actions. Anybody can call an action with anything, so forms and texts are checked here
 * first.
 */
import type { z } from 'zod';
import { WinterdockError } from '#lib/base/errors.ts';
import { type InstanceId, isInstanceId } from '#lib/base/ids.ts';

/** The error for arguments that no form of the console sends. */
function unreadable(): WinterdockError {
  return new WinterdockError('bad_request', 'What was sent is not what this form sends.', {
    hint: 'Nothing was done. Reload the page and try again.',
  });
}

/** A field as it was typed; null when it is absent or a file. Throws `bad_request` when there is no form. */
export function rawField(form: FormData, name: string): string | null {
  if (!(form instanceof FormData)) throw unreadable();
  const value = form.get(name);
  return typeof value === 'string' ? value : null;
}

/** The trimmed text of a field; '' when it is absent or a file. Throws `bad_request` when there is no form. */
export function textField(form: FormData, name: string): string {
  return rawField(form, name)?.trim() ?? '';
}

/** Throws `bad_request` unless all of these bound arguments are text. */
export function expectTexts(...bound: readonly unknown[]): void {
  if (!bound.every((one) => typeof one === 'string')) throw unreadable();
}

/** The id of a sandbox that a form is bound to. Throws `bad_request` for any other value. */
export function boundInstanceId(bound: unknown): InstanceId {
  if (!isInstanceId(bound)) throw unreadable();
  return bound;
}

/** Throws `bad_request` unless a bound argument, or an earlier state, has this shape. */
export function expectShape(shape: z.ZodType, bound: unknown): void {
  if (!shape.safeParse(bound).success) throw unreadable();
}
