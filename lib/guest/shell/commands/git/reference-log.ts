/** The logs of references (`.git/logs`), from which `HEAD@{1}`, `checkout -` and `stash list` come. */
import { identity } from './configuration.ts';
import type { GitContext } from './git-context.ts';
import { GitError } from './git-error.ts';
import { type CommitPerson, formatPerson } from './objects.ts';

const NULL_HASH = '0'.repeat(40);
const NOBODY: Omit<CommitPerson, 'seconds'> = { name: 'sandbox', email: 'sandbox@sandbox', zone: '+0000' };

/** Adds a line to the log of HEAD, and of the branch that it names when `branch`. */
export async function noteHead(
  context: GitContext,
  before: string | null,
  after: string,
  message: string,
  { branch = true } = {},
): Promise<void> {
  const repository = await context.repository();
  const reference = branch ? await repository.headReference() : null;
  for (const name of ['HEAD', ...(reference === null ? [] : [reference])]) {
    await noteReference(context, name, before, after, message);
  }
}

export async function noteReference(
  context: GitContext,
  reference: string,
  before: string | null,
  after: string,
  message: string,
): Promise<void> {
  const { files, gitdir } = await context.repository();
  const line = `${before ?? NULL_HASH} ${after} ${formatPerson(await someone(context))}\t${message.split('\n')[0]}\n`;
  await files.append(`${gitdir}/logs/${reference}`, line);
}

/** Who moves a reference need not be known by name. */
async function someone(context: GitContext): Promise<CommitPerson> {
  try {
    return await identity(context, 'COMMITTER');
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    return { ...NOBODY, seconds: Math.floor(Date.now() / 1000) };
  }
}
