/** For tests: a value that a zod schema takes, made from the schema itself: the least that it asks for. */
import { z } from 'zod';

interface Shape {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Shape[];
  oneOf?: Shape[];
  allOf?: Shape[];
  properties?: Record<string, Shape>;
  required?: string[];
  items?: Shape;
  minItems?: number;
  minimum?: number;
  minLength?: number;
  format?: string;
  pattern?: string;
}

function madeOf(shape: Shape, name: string, given: Record<string, unknown>): unknown {
  if (name !== '' && Object.hasOwn(given, name)) return given[name];
  if (shape.const !== undefined) return shape.const;
  if (shape.enum !== undefined) return shape.enum[0];
  const [choice] = shape.anyOf ?? shape.oneOf ?? shape.allOf ?? [];
  if (choice !== undefined) return madeOf(choice, name, given);
  switch (shape.type) {
    case 'object': {
      const wanted = [...(shape.required ?? []), ...Object.keys(shape.properties ?? {}).filter((key) => key in given)];
      return Object.fromEntries(
        [...new Set(wanted)].map((key) => [key, madeOf(shape.properties?.[key] ?? {}, key, given)]),
      );
    }
    case 'array':
      return Array.from({ length: shape.minItems ?? 0 }, () => madeOf(shape.items ?? {}, '', given));
    case 'integer':
    case 'number':
      return Math.max(shape.minimum ?? 1, 1);
    case 'boolean':
      return false;
    case 'null':
      return null;
    default:
      if (shape.format === 'email') return 'someone@example.com';
      return 'sample'.padEnd(shape.minLength ?? 0, 'x');
  }
}

/** The value; members that are in `given` and in the schema have what is given, asked for or not. */
export function sampleOf(schema: z.ZodType, given: Record<string, unknown> = {}): unknown {
  return madeOf(z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Shape, '', given);
}
