/** Commands that are one call of the API each: what is asked, and its answer as it is. Knows no call by name. */
import type { Command } from 'commander';
import type { CallOptions, WinterdockClient } from '../client/client.ts';
import { addCommand, cliClient } from './command.ts';
import { readable } from './readable.ts';

interface OneCall<O, A extends unknown[]> {
  summary: string;
  description?: string;
  examples: readonly (readonly [string, string])[];
  options?: (command: Command) => Command;
  /** Anybody may ask: no key is needed. */
  isOpen?: boolean;
  ask(client: WinterdockClient, call: CallOptions, options: O, ...args: A): Promise<unknown>;
  /** What a person reads; without it every member of the answer. */
  text?(answer: never, ...args: A): string;
}

/** Adds such a command below `parent`. `usage` is its name with its arguments: `prefetch <id>`. */
export function addCall<O = object, A extends unknown[] = string[]>(
  parent: Command,
  usage: string,
  one: OneCall<O, A>,
): void {
  const { ask, text, isOpen, ...spec } = one;
  addCommand<O, A>(parent, usage, {
    ...spec,
    async run(context, options, ...args) {
      const client = isOpen === true ? cliClient(context.server) : context.client;
      const answer = await ask(client, { signal: context.signal }, options, ...args);
      context.print(answer ?? {}, () => (text === undefined ? readable(answer) : text(answer as never, ...args)));
    },
  });
}
