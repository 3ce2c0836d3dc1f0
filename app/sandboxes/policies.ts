/**
 * What the console says of policies and workbooks: those to choose from, what each is for, and what a row has that is
 * not offered. Pure.
 */
import type { Language } from '#components/terminal/words.ts';
import { type Instance, OFFERED_POLICIES, whyNotOffered } from '#lib/contract/schema.ts';

/** The capability profiles that a person chooses from, the default first, and what each is for. */
export const POLICY_CHOICES: readonly { name: string; says: string }[] = OFFERED_POLICIES.map((name) => ({
  name,
  says: { posix: 'shell, JavaScript, Python, archives', minimal: 'shell and JavaScript' }[name],
}));

const LANGUAGES: Readonly<Record<string, readonly Language[]>> = {
  posix: ['shell', 'js', 'python'],
  minimal: ['shell', 'js'],
  network: ['shell', 'js'],
};

/** What may be typed into the terminal of a sandbox of this policy: nothing where it has no shell. */
export function languagesOf(policy: string): readonly Language[] {
  return Object.hasOwn(LANGUAGES, policy) ? (LANGUAGES[policy] ?? []) : [];
}

/** What a sandbox has that no other is given, one sentence each: it keeps what that gives today. */
export function notOffered({ policy, workbook }: Pick<Instance, 'policy' | 'workbook'>): string[] {
  const why = whyNotOffered(policy);
  const given = languagesOf(policy).length === 0 ? 'its files, and no commands' : 'its files, a shell and JavaScript';
  return [
    ...(why === null ? [] : [`Its policy “${policy}” ${why}. It keeps what that gives: ${given}.`]),
    ...(workbook === null ? [] : [`Its workbook “${workbook}” is a name and no more: there are no workbooks yet.`]),
  ];
}
