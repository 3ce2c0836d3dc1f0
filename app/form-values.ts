/**
 * Reading what an action is called with. Anybody may call one with anything, so what it takes for a form or for text is
 * looked at here first.
 */
import type { z } from 'zod';
import { WinterdockError } from '#lib/base/errors.ts';

/** The refusal of a call whose arguments no form of the console sends. */
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

/** Throws `bad_request` unless all of these, which pages bind to their forms, are text. */
export function expectTexts(...bound: readonly unknown[]): void {
  if (!bound.every((one) => typeof one === 'string')) throw unreadable();
}

/** Throws `bad_request` unless what a page bound to its form, or got from it before, still has this shape. */
export function expectShape(shape: z.ZodType, bound: unknown): void {
  if (!shape.safeParse(bound).success) throw unreadable();
}
