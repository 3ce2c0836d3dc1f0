/** A kind of column that drizzle has not: JSON that may be null, also when it is bound later. */
import { customType } from './drizzle.ts';

/**
 * JSON as text. Null is NULL and not the text `null`, which drizzle's own makes of a null that a placeholder stands
 * for.
 */
export function jsonColumn<T>(name: string) {
  return customType<{ data: T; driverData: string | null }>({
    dataType: () => 'text',
    toDriver: (value) => (value === null ? null : JSON.stringify(value)),
    fromDriver: (text) => JSON.parse(text as string) as T,
  })(name);
}
