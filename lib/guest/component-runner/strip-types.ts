/**
 * Takes the types out of TypeScript, with what Node has for it: syntax with an effect of its own (enums, namespaces,
 * parameter properties) is refused. Loaded by the first TypeScript component of a start: 45 ms of processor time and 19
 * MB.
 */
import { stripTypeScriptTypes } from 'node:module';

/** The same program as JavaScript, each line where it was; or what is wrong. */
export function stripTypes(source: string): { code: string } | { problem: string } {
  try {
    return { code: stripTypeScriptTypes(source) };
  } catch (error) {
    const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    return {
      problem: `SyntaxError: ${first || 'it is no TypeScript'}. Types are taken out of TypeScript, nothing is compiled.`,
    };
  }
}
