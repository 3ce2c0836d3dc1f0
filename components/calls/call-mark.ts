/** Marks a control that calls the API with its call, for the panel that shows calls. */
import type { CallName } from '#lib/client/call-text.ts';

/**
 * How a field's text becomes a value. `true`: it is ticked. `yes`: `true` or `false`. `list`: several texts, by comma
 * or space. `labels`: one a line. `length`, `size` and `moment`: as a person types them; `never` is a length of 0.
 * `days`, `seconds`: so many from now. `rhythm`: the fields of a rhythm as a cron expression. `variable`: it is the
 * name of what the field `value` holds. `rules`: entries of a network list, one a line. `null`: nothing, when it is
 * ticked.
 */
export type FieldKind =
  | 'text'
  | 'number'
  | 'true'
  | 'yes'
  | 'json'
  | 'list'
  | 'labels'
  | 'length'
  | 'size'
  | 'moment'
  | 'days'
  | 'seconds'
  | 'rhythm'
  | 'variable'
  | 'rules'
  | 'null';

/** Where a field's value goes when it is not the member of the body of the field's own name. */
export interface FieldTarget {
  /** Empty: the value is an object of members. */
  to: string;
  /** `input`: the member of the body that holds the inputs of a component. */
  in?: 'path' | 'query' | 'body' | 'input';
  kind?: FieldKind;
  /** Stands before the text: the folder of a name. */
  before?: string;
}

/** What the call takes. */
export interface MarkedCall {
  name: CallName;
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  body?: Readonly<Record<string, unknown>>;
  headers?: Readonly<Record<string, string>>;
  /** What the form's fields give, by the field's name; empty fields give nothing. */
  fields?: Readonly<Record<string, FieldKind | FieldTarget>>;
  /** Only fields that differ from how the form was shown; an emptied one is null, an unticked one false. */
  onlyChanged?: boolean;
}

/** The attribute, to spread on a form, a button, or what is around them. */
export function callMark(call: MarkedCall): { 'data-call': string } {
  return { 'data-call': JSON.stringify({ '': call }) };
}

/** The attribute of several buttons in one form: the call of each by the button's value; null for one without. */
export function callMarks(byValue: Readonly<Record<string, MarkedCall | null>>): { 'data-call': string } {
  return { 'data-call': JSON.stringify(byValue) };
}
