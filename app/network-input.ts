/** What the forms of the network send, as the API takes it. */
import type { NetworkState, NetworkText } from '#components/network/network-form.tsx';
import { rulesOfText, type TypedRule } from '#components/network/rule-text.ts';
import { parseSize } from '#components/ui/amounts.ts';
import { textField } from './form-values.ts';

interface TypedNetwork {
  rules: TypedRule[] | null;
  requests_per_minute: number | null;
  bytes_per_day: number | null;
}

/** Reads a form. An empty number is the server's. */
export function networkOfForm(form: FormData): {
  values: NetworkText;
  input: TypedNetwork;
  errors: NetworkState['errors'];
} {
  const values: NetworkText = {
    rules: textField(form, 'rules'),
    requests_per_minute: textField(form, 'requests_per_minute'),
    bytes_per_day: textField(form, 'bytes_per_day'),
  };
  const errors: NetworkState['errors'] = {};
  const { rules, wrong } = rulesOfText(values.rules);
  if (wrong !== null) errors.rules = wrong;
  const amount = (name: 'requests_per_minute' | 'bytes_per_day', parsed: number | null): number | null => {
    if (values[name] === '') return null;
    if (parsed === null) errors[name] = name === 'bytes_per_day' ? 'An amount like 500 MB.' : 'A whole number.';
    return parsed;
  };
  const isWhole = /^\d{1,6}$/.test(values.requests_per_minute);
  const input = {
    rules: textField(form, 'inherits') === '1' ? null : rules,
    requests_per_minute: amount('requests_per_minute', isWhole ? Number(values.requests_per_minute) : null),
    bytes_per_day: amount('bytes_per_day', parseSize(values.bytes_per_day)),
  };
  return { values, input, errors };
}

/** The complaints of a schema, by the field that they are about. */
export function networkErrors(issues: readonly { path: PropertyKey[]; message: string }[]): NetworkState['errors'] {
  const errors: NetworkState['errors'] = {};
  for (const { path, message } of issues) {
    const [field, at] = path;
    if (field === 'requests_per_minute' || field === 'bytes_per_day') errors[field] ??= message;
    else errors.rules ??= typeof at === 'number' ? `Entry ${at + 1} ${message}` : message;
  }
  return errors;
}
