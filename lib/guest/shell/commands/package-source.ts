/** Requests to an index or registry of packages, for `pip` and `npm`. What they answer is untrusted. */
import type { FetchAnswer } from '../../../workers/protocol/fetch-messages.ts';
import { followRedirects } from '../../../workers/protocol/redirects.ts';
import type { CommandCall } from './own-command.ts';

const MOST_REDIRECTS = 5;

/** Why a package cannot be had or used, for the person. */
export class PackageError extends Error {}

type Answer = Extract<FetchAnswer, { status: number }>;

/** Gets an address with the header `accept`. `url`: where the answer came from. Throws `PackageError` without one. */
export type PackageSource = (url: string, accept: string) => Promise<{ answer: Answer; url: string }>;

/** Sends with the requests of a call, which ends with its time. */
export function packageSource(call: CommandCall): PackageSource {
  const headers = (accept: string): [string, string][] => [
    ['accept', accept],
    ['user-agent', `${call.name}/winterdock`],
  ];
  return async (address, accept) => {
    const first = { url: address, method: 'GET', headers: headers(accept), body: null, decode: true, timeoutMs: null };
    const send: CommandCall['fetch'] = async (request) => {
      const answer = await call.fetch(request);
      call.requireTime();
      return answer;
    };
    const { answer, url, tooMany } = await followRedirects(first, send, { most: MOST_REDIRECTS });
    if ('failure' in answer) {
      const allow = `. An operator allows it: winterdock network allow ${new URL(url).origin}/ --tenant TENANT`;
      throw new PackageError(`${url}: ${answer.message}${answer.failure === 'refused' ? allow : ''}`);
    }
    if (tooMany) throw new PackageError(`${address}: more than ${MOST_REDIRECTS} redirects`);
    return { answer, url };
  };
}
