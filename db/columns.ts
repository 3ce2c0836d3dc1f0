/** A column type that drizzle lacks: JSON that may be null, also when it is bound later. */
import { customType } from './drizzle.ts';

/**
 * JSON as text. Null is stored as NULL and not as the text `null`, which drizzle's own type stores for a null in a
 * placeholder.
 */
export function jsonColumn<T>(name: string) {
  return customType<{ data: T; driverData: string | null }>({
    dataType: () => 'text',
    toDriver: (value) => (value === null ? null : JSON.stringify(value)),
    fromDriver: (text) => JSON.parse(text as string) as T,
  })(name);
}
