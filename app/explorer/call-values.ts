/** What a person fills in for a call of the explorer, and the call that comes of it. Pure. */
import type { CallName, SampleCall } from '#lib/client/call-text.ts';
import type { ListedOperation } from './document.ts';

/** The fields of one call: parameters by `place name`, and the text of the body. */
export interface CallValues {
  parameters: Record<string, string>;
  body: string;
}

/** The values with which a call works as it stands. */
export function exampleValues({ parameters, body }: ListedOperation): CallValues {
  return {
    parameters: Object.fromEntries(parameters.map(({ place, name, example }) => [`${place} ${name}`, example])),
    body: body?.example ?? '',
  };
}

/** The JSON of a body, or what is wrong with it. */
export function parseBody(text: string): { value: unknown } | { error: string } {
  if (text.trim() === '') return { value: undefined };
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error: `This is no JSON: ${error instanceof Error ? error.message : 'it cannot be read'}` };
  }
}

/** The call with its values. A body that is no JSON is left out: it cannot be sent either. */
export function sampleOf(operation: ListedOperation, values: CallValues): SampleCall {
  const at = (place: string) =>
    Object.fromEntries(
      operation.parameters
        .filter((parameter) => parameter.place === place)
        .map(({ name }): [string, string] => [name, values.parameters[`${place} ${name}`] ?? ''])
        .filter(([, value]) => value !== ''),
    );
  const parsed = operation.body?.json === true ? parseBody(values.body) : { value: values.body };
  return {
    name: operation.name as CallName,
    path: at('path'),
    query: at('query'),
    headers: at('header'),
    ...(operation.body === null || !('value' in parsed) || parsed.value === undefined ? {} : { body: parsed.value }),
  };
}
