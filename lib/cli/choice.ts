/**
 * Options whose value is one of a few words: the help names them and completion offers them, from one list. The server
 * judges the word: a newer one may know more.
 */
import { Option } from 'commander';
import { OFFERED_POLICIES } from '../workers/protocol/policies.ts';

/** An option such as `--state <state>` with the words that it takes. */
export function choice(flags: string, text: string, words: readonly string[], byDefault?: string): Option {
  const option = new Option(flags, text);
  option.argChoices = [...words];
  return byDefault === undefined ? option : option.default(byDefault);
}

/** `--policy`, with every policy that a sandbox can get. */
export const policyChoice = (text: string): Option => choice('--policy <policy>', text, OFFERED_POLICIES);

/** `--replicate`, what is promised of a replica; seconds are typed. */
export const replicateChoice = (text: string): Option =>
  choice('--replicate <promise>', `${text}: off, filed, seconds such as 1s, or sync`, ['off', 'filed', '1s', 'sync']);
