/** The one error of an id that names nothing. What is another tenant's answers with it too, to the letter. */
import { WinterdockError } from '../base/errors.ts';
import type { Owned } from '../contract/access.ts';

const KIND_WORDS: Readonly<Record<Owned, string>> = {
  instance: 'sandbox',
  snapshot: 'snapshot',
  job: 'job',
  webhook: 'webhook',
};

/** The error of an id that there is not, or that is another tenant's. */
export function unknownId(kind: Owned | 'tenant', id: string): WinterdockError {
  return new WinterdockError('not_found', `There is no ${kind === 'tenant' ? kind : KIND_WORDS[kind]} "${id}".`);
}
