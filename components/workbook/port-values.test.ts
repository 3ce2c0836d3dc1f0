import { expect, test } from 'vitest';
import { controlOf, fieldOf, typedInputs } from './port-values.ts';

const port = (name: string, type: string, optional = false) => ({ name, type, optional });

function typed(ports: ReturnType<typeof port>[], values: Record<string, string>) {
  return typedInputs(ports, (field) => values[field] ?? '');
}

test('each type has a control of its own, and what has no control is typed as JSON', () => {
  const types = [
    'string',
    'number',
    'integer',
    'boolean',
    'bytes',
    'object',
    'array',
    'any',
    'string[]',
    'constructor',
  ];
  expect(types.map((type) => controlOf({ type }))).toEqual([
    'text',
    'number',
    'integer',
    'boolean',
    'base64',
    ...Array<string>(5).fill('json'),
  ]);
});

test('what is typed becomes values of the declared types', () => {
  const ports = [
    port('name', 'string'),
    port('count', 'integer'),
    port('rate', 'number'),
    port('dry', 'boolean'),
    port('rows', 'object[]'),
    port('blob', 'bytes'),
  ];
  const values = {
    [fieldOf({ name: 'name' })]: ' Ada ',
    'in-count': ' 7 ',
    'in-rate': '0.5',
    'in-dry': 'false',
    'in-rows': '[{"a": 1}]',
    'in-blob': 'AQ\nI=',
  };
  expect(typed(ports, values)).toEqual({
    input: { name: ' Ada ', count: 7, rate: 0.5, dry: false, rows: [{ a: 1 }], blob: 'AQI=' },
    errors: {},
  });
});

test('an empty field is no input where it is optional, an empty text where it is a text, and a complaint elsewhere', () => {
  expect(
    typed([port('a', 'string'), port('b', 'string', true), port('c', 'integer', true), port('d', 'number')], {}),
  ).toEqual({
    input: { a: '' },
    errors: { d: 'is needed' },
  });
});

test('what does not fit its type is named with the reason', () => {
  const ports = [port('a', 'integer'), port('b', 'number'), port('c', 'boolean'), port('d', 'object')];
  const { input, errors } = typed(ports, { 'in-a': '1.5', 'in-b': 'many', 'in-c': 'yes', 'in-d': '{' });
  expect(input).toEqual({});
  expect(errors).toEqual({
    a: 'must be a whole number',
    b: 'must be a number',
    c: 'must be true or false',
    d: expect.stringMatching(/^is not JSON: /),
  });
});
