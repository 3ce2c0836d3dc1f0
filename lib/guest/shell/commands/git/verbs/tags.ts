/** `git tag`. */
import { parseCommandLine } from '../command-line.ts';
import { identity } from '../configuration.ts';
import type { GitContext } from '../git-context.ts';
import { failure, fatal } from '../git-error.ts';
import { formatTag, parseTag } from '../objects.ts';
import type { Repository } from '../repository.ts';
import { commitOf, requireCommit, requireRevision, short } from '../revisions.ts';
import { globOf, requireName } from './branches.ts';

export async function tag(context: GitContext, args: string[]): Promise<number> {
  const line = parseCommandLine(args, {
    'a,annotate': 'flag',
    'm,message': 'value',
    'F,file': 'value',
    'f,force': 'flag',
    'd,delete': 'flag',
    'l,list': 'flag',
    n: 'maybe',
    'points-at': 'value',
  });
  const repository = await context.repository();
  const [name, target] = line.operands;
  if (line.has('delete')) {
    let exitCode = 0;
    for (const one of line.operands) {
      const oid = await repository.reference(`refs/tags/${one}`);
      if (oid === null) {
        context.out.errorLine(`error: tag '${one}' not found.`);
        exitCode = 1;
        continue;
      }
      await repository.deleteReference(`refs/tags/${one}`);
      context.out.line(`Deleted tag '${one}' (was ${short(oid)})`);
    }
    return exitCode;
  }
  if (name === undefined || line.has('list') || line.has('n') || line.has('points-at')) {
    const points = line.value('points-at');
    const wanted = points === undefined ? null : await requireCommit(repository, points);
    for (const one of await repository.referencesBelow('refs/tags')) {
      if (line.operands.length > 0 && !line.operands.some((pattern) => globOf(pattern).test(one))) continue;
      const oid = (await repository.reference(`refs/tags/${one}`)) ?? '';
      if (wanted !== null && (await commitOf(repository, oid)) !== wanted) continue;
      context.out.line(line.has('n') ? `${one.padEnd(15)} ${await annotation(repository, oid)}` : one);
    }
    return 0;
  }
  requireName(name, 'tag');
  const known = await repository.reference(`refs/tags/${name}`);
  if (known !== null && !line.has('force')) throw fatal(`tag '${name}' already exists`);
  const oid = await requireRevision(repository, target ?? 'HEAD');
  const file = line.value('file');
  const given = line.has('message')
    ? line.values('message').join('\n\n')
    : file === undefined
      ? null
      : await context.files.text(context.absolute(file));
  if (line.has('annotate') && given === null)
    throw failure('there is no editor in this sandbox; give the message with -m or -F.\nfatal: no tag message?');
  const made =
    given === null
      ? oid
      : await repository.writeRaw(
          'tag',
          formatTag({
            object: oid,
            type: (await repository.object(oid)).type,
            name,
            tagger: await identity(context, 'COMMITTER'),
            message: `${given.trim()}\n`,
          }),
        );
  await repository.setReference(`refs/tags/${name}`, made);
  if (known !== null && known !== made) context.out.line(`Updated tag '${name}' (was ${short(known)})`);
  return 0;
}

async function annotation(repository: Repository, oid: string): Promise<string> {
  const { type, content } = await repository.object(oid);
  const text = type === 'tag' ? parseTag(content).message : (await repository.commit(oid)).message;
  return text.split('\n')[0] ?? '';
}
