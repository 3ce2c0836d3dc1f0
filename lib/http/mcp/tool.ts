/**
 * What a tool of the MCP endpoint is, and what it answers: bounded text that says what was cut. Knows no tool and
 * nothing of the protocol's transport.
 */
import type { z } from 'zod';
import type { Caller } from '../../auth/caller.ts';
import { type OperationName, type Rights, roleRefusal } from '../../contract/access.ts';
import type { Operations } from '../../operations/operations.ts';

/** Characters of one text that an answer shows. Two of them, in tokens, are what hosts give one answer. */
export const SHOWN_TEXT = 32_000;

/** What a call works with. */
export interface ToolContext {
  operations: Operations;
  caller: Caller;
  /** Aborted when the call is cancelled, its client goes away, or its key ends. */
  signal: AbortSignal;
  /** Notes what the call is doing; shown to the caller now and then, when it asked for progress. */
  progress(words: string): void;
}

/** The protocol's hints for hosts: what they ask people before a call. */
interface ToolHints {
  readOnlyHint: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint: boolean;
}

/** What a tool answers: facts as one JSON object, then texts as they are, in the order that `facts.texts` names. */
export interface ToolAnswer {
  facts: Record<string, unknown>;
  texts?: readonly string[];
}

interface ToolSpec<S extends z.ZodType> {
  /** `winterdock_` and a verb. */
  name: string;
  title: string;
  /** For models: what it does, when to use it, what it does not do. */
  description: string;
  input: S;
  /** Other names that models know from other tools, each with the member that it means. They are not listed. */
  alsoCalled?: Readonly<Record<string, string>>;
  /** What a role must be allowed for the tool to be offered. Other operations that it calls have their own rules. */
  operation: OperationName;
  hints: ToolHints;
  run(context: ToolContext, input: z.output<S>): Promise<ToolAnswer>;
}

/** A tool whose input is not parsed yet. */
export type McpTool = ToolSpec<z.ZodType>;

/** Declares a tool; the type of its input comes from the schema. */
export function mcpTool<S extends z.ZodType>(spec: ToolSpec<S>): McpTool {
  return spec as unknown as McpTool;
}

/** An input with its members under the tool's own names. A member that is there under both stays wrong. */
export function inOwnWords({ alsoCalled = {} }: McpTool, input: unknown): unknown {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return input;
  const own = (name: string) => (Object.hasOwn(alsoCalled, name) ? alsoCalled[name] : undefined);
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => {
      const meant = own(name);
      return [meant === undefined || Object.hasOwn(input, meant) ? name : meant, value];
    }),
  );
}

/** Whether a role is offered a tool. */
export function isOffered(tool: McpTool, who: Rights): boolean {
  return roleRefusal(who, tool.operation) === null;
}

/** Hints of a tool that changes nothing. */
export const READ_HINTS: ToolHints = { readOnlyHint: true, openWorldHint: false };

/** Cuts a text in its middle, between characters: the beginning says what it is, the end how it came out. */
export function cutInMiddle(text: string, most = SHOWN_TEXT): { text: string; cut: number } {
  if (text.length <= most) return { text, cut: 0 };
  const head = whole(text.slice(0, Math.ceil(most / 2)), 'end');
  const tail = whole(text.slice(text.length - Math.floor(most / 2)), 'start');
  const cut = text.length - head.length - tail.length;
  return { text: `${head}\n[… ${cut} characters are cut here …]\n${tail}`, cut };
}

/** Without the half of a surrogate pair that a cut left. */
function whole(text: string, side: 'start' | 'end'): string {
  const code = side === 'end' ? text.charCodeAt(text.length - 1) : text.charCodeAt(0);
  const isHalf = side === 'end' ? code >= 0xd800 && code < 0xdc00 : code >= 0xdc00 && code < 0xe000;
  if (!isHalf) return text;
  return side === 'end' ? text.slice(0, -1) : text.slice(1);
}

/** As many of the items as fit into one text of JSON. */
export function fitting<T>(items: readonly T[], most = SHOWN_TEXT): { items: T[]; cut: number } {
  const kept: T[] = [];
  let size = 0;
  for (const item of items) {
    size += JSON.stringify(item).length + 1;
    if (size > most) break;
    kept.push(item);
  }
  return { items: kept, cut: items.length - kept.length };
}

/** A page of a list that fits into one answer: it is asked for again, shorter, when it does not. */
export async function fittingPage<P extends { items: readonly unknown[] }>(
  limit: number,
  ask: (limit: number) => Promise<P>,
  show: (item: P['items'][number]) => unknown,
): Promise<{ page: P; shown: unknown[] }> {
  const page = await ask(limit);
  const shown = page.items.map(show);
  const { items, cut } = fitting(shown);
  if (cut === 0 || shown.length === 1) return { page, shown };
  const shorter = await ask(Math.max(1, items.length));
  return { page: shorter, shown: shorter.items.map(show) };
}
