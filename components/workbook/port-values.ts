/** Inputs that somebody typed, by the declared types. Pure; the server parses, the form says what each type wants. */
import type { ComponentPort } from '#lib/contract/schema.ts';

export interface TypedInputs {
  input: Record<string, unknown>;
  errors: Record<string, string>;
}

/** The name of a port's field. */
export function fieldOf(port: Pick<ComponentPort, 'name'>): string {
  return `in-${port.name}`;
}

type Control = 'text' | 'number' | 'integer' | 'boolean' | 'json' | 'base64';

const CONTROLS: Readonly<Record<string, Control>> = {
  string: 'text',
  number: 'number',
  integer: 'integer',
  boolean: 'boolean',
  bytes: 'base64',
};

/** Which control a type gets: lists, objects and `any` are typed as JSON. */
export function controlOf({ type }: Pick<ComponentPort, 'type'>): Control {
  return Object.hasOwn(CONTROLS, type) ? (CONTROLS[type] ?? 'json') : 'json';
}

function parsedJson(text: string): { value: unknown } | { error: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (error) {
    return { error: `is not JSON: ${error instanceof Error ? error.message : 'it cannot be read'}` };
  }
}

function parsed(control: Control, text: string): { value: unknown } | { error: string } {
  switch (control) {
    case 'text':
      return { value: text };
    case 'number':
    case 'integer': {
      const value = Number(text);
      if (!Number.isFinite(value)) return { error: 'must be a number' };
      if (control === 'integer' && !Number.isSafeInteger(value)) return { error: 'must be a whole number' };
      return { value };
    }
    case 'boolean':
      return text === 'true' || text === 'false' ? { value: text === 'true' } : { error: 'must be true or false' };
    case 'base64':
      return { value: text.replace(/\s+/g, '') };
    case 'json':
      return parsedJson(text);
  }
}

/**
 * What was typed, as the call takes it. An empty field of an optional input is no input; an empty text is one where it
 * is not optional.
 */
export function typedInputs(ports: readonly ComponentPort[], textOf: (field: string) => string): TypedInputs {
  const input: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  for (const port of ports) {
    const control = controlOf(port);
    const text = textOf(fieldOf(port));
    const isEmpty = text.trim() === '';
    if (isEmpty && port.optional) continue;
    if (isEmpty && control !== 'text') {
      errors[port.name] = 'is needed';
      continue;
    }
    const result = parsed(control, control === 'text' ? text : text.trim());
    if ('error' in result) errors[port.name] = result.error;
    else input[port.name] = result.value;
  }
  return { input, errors };
}
