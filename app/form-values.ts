/** Reading a form: text that was typed, as a string or not at all. */

/** The trimmed text of a field; '' when it is absent or a file. */
export function textOf(form: FormData, name: string): string {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}
