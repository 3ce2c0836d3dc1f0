/** Reads the call of a button: its own mark or its form's, with what the form holds now. */
import { isCallName, type SampleCall } from '#lib/client/call-text.ts';
import { rulesOfText } from '../network/rule-text.ts';
import { parsePause, parseSize } from '../ui/amounts.ts';
import { parseLabels } from '../ui/label-text.ts';
import { parseMoment } from '../ui/moments.ts';
import { cronOf, RHYTHM_FIELDS } from '../workbook/rhythm.ts';
import type { FieldKind, FieldTarget, MarkedCall } from './call-mark.ts';

/** What a button does: a call, or in words why there is none. */
export type ButtonCall = { button: string; call: SampleCall } | { button: string; why: string };

const DAY_SECONDS = 86_400;
const NONE = 'It makes no single call of the API: it works in the page, in your session, or takes several calls.';

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not finished yet: shown as it stands.
    return text;
  }
}

/** What cannot be read yet is shown as it stands. */
const READ: Readonly<Record<FieldKind, (text: string, data: FormData) => unknown>> = {
  text: (text) => text,
  number: (text) => (Number.isNaN(Number(text)) ? text : Number(text)),
  true: () => true,
  yes: (text) => text === 'true',
  json: parsedJson,
  list: (text) => text.split(/[\s,]+/).filter((word) => word !== ''),
  labels: parseLabels,
  length: (text) => parsePause(text) ?? text,
  size: (text) => parseSize(text) ?? text,
  moment: (text) => parseMoment(text, 'first') ?? text,
  days: (text) => Math.floor(Date.now() / 1000) + Number(text) * DAY_SECONDS,
  seconds: (text) => Math.floor(Date.now() / 1000) + Number(text),
  variable: (text, data) => ({ [text]: String(data.get('value') ?? '') }),
  rules: (text) => rulesOfText(text).rules,
  null: () => null,
  rhythm: (_, data) => {
    const values = Object.fromEntries(RHYTHM_FIELDS.map((name) => [name, String(data.get(name) ?? '')]));
    const cron = cronOf(values);
    return 'cron' in cron ? cron.cron : undefined;
  },
};

function labelOf(button: HTMLElement): string {
  return (button.getAttribute('aria-label') ?? button.textContent ?? '').replace(/\s+/g, ' ').trim();
}

function formOf(button: HTMLElement): HTMLFormElement | null {
  return button instanceof HTMLButtonElement ? button.form : null;
}

function formData(button: HTMLElement, form: HTMLFormElement): FormData {
  const submits = button instanceof HTMLButtonElement && button.type === 'submit' && button.form === form;
  return new FormData(form, submits ? button : undefined);
}

/** The mark of a button: its own, or for one that submits the nearest one around it. */
function markOf(button: HTMLElement): MarkedCall | null {
  const submits = button instanceof HTMLButtonElement && button.type === 'submit';
  const mark = button.dataset.call ?? (submits ? button.closest<HTMLElement>('[data-call]')?.dataset.call : undefined);
  if (mark === undefined) return null;
  const calls = JSON.parse(mark) as Record<string, MarkedCall | null>;
  const value = button instanceof HTMLButtonElement ? button.value : '';
  const call = Object.hasOwn(calls, value) ? calls[value] : calls[''];
  return call && isCallName(call.name) ? call : null;
}

/** Whether a field differs from how the form was shown. */
function isChanged(control: Element | RadioNodeList | null): boolean {
  if (control instanceof HTMLInputElement && control.type === 'checkbox') {
    return control.checked !== control.defaultChecked;
  }
  if (control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement) {
    return control.value !== control.defaultValue;
  }
  if (!(control instanceof HTMLSelectElement)) return false;
  return [...control.options].some(({ selected, defaultSelected }) => selected !== defaultSelected);
}

/** What a field gives; undefined for nothing. */
function fieldValue(form: HTMLFormElement, data: FormData, field: string, target: FieldTarget, only: boolean): unknown {
  const control = form.elements.namedItem(field);
  if (only && !isChanged(control)) return undefined;
  const kind = target.kind ?? 'text';
  const value = data.get(field);
  // A file's name stands for it.
  const text = value instanceof File ? value.name : value;
  if (typeof text === 'string' && text !== '') return READ[kind](`${target.before ?? ''}${text}`, data);
  if (!only) return undefined;
  return kind === 'true' ? false : null;
}

/** The call with what the fields of its form hold. */
function filledCall({ fields = {}, onlyChanged = false, ...call }: MarkedCall, button: HTMLElement): SampleCall {
  const given = { path: { ...call.path }, query: { ...call.query }, body: { ...call.body }, input: {} };
  const form = formOf(button);
  const data = form === null ? null : formData(button, form);
  for (const [field, how] of Object.entries(fields)) {
    if (form === null || data === null) break;
    const target: FieldTarget = typeof how === 'string' ? { to: field, kind: how } : how;
    const value = fieldValue(form, data, field, target, onlyChanged);
    const into: Record<string, unknown> = given[target.in ?? 'body'];
    if (value === undefined) continue;
    if (target.to !== '') into[target.to] = value;
    else if (typeof value === 'object') Object.assign(into, value);
  }
  const { path, query, input } = given;
  const body = { ...given.body, ...(Object.keys(input).length === 0 ? {} : { input }) };
  return { ...call, path, query, body: Object.keys(body).length === 0 ? undefined : body };
}

/** The call of a button, or of a link that downloads; null for what is neither. */
export function callOfButton(target: Element): ButtonCall | null {
  const button = target.closest<HTMLElement>('button, summary, [role="button"], a[data-call]');
  if (button === null) return null;
  const mark = markOf(button);
  const label = labelOf(button);
  if (mark === null) return { button: label, why: NONE };
  return { button: label, call: filledCall(mark, button) };
}
