/**
 * Policies and workbooks in words: those to choose from, what each allows, and what a row has that is no longer
 * offered. Pure.
 */
import type { Language } from '#components/terminal/run-words.ts';
import { type Instance, OFFERED_POLICIES, whyNotOffered } from '#lib/contract/schema.ts';

const ALLOWS: Readonly<Record<(typeof OFFERED_POLICIES)[number], string>> = {
  posix: 'shell, JavaScript, Python, archives',
  minimal: 'shell and JavaScript',
  compute: 'components of its workbook alone',
  network: 'posix, and hosts that its lists allow',
  native: 'real programs of its root',
};

/** The policies to choose from, the default first, and what each allows. `native`: as the server's settings have it. */
export function policyChoices({ native }: { native: { isOn: boolean } }): { name: string; says: string }[] {
  return OFFERED_POLICIES.filter((name) => name !== 'native' || native.isOn).map((name) => ({
    name,
    says: ALLOWS[name],
  }));
}

const LANGUAGES: Readonly<Record<string, readonly Language[]>> = {
  posix: ['shell', 'js', 'python'],
  minimal: ['shell', 'js'],
  network: ['shell', 'js', 'python'],
  native: ['shell'],
};

/** The terminal's languages for a policy: none where it has no shell. */
export function languagesOf(policy: string): readonly Language[] {
  return Object.hasOwn(LANGUAGES, policy) ? (LANGUAGES[policy] ?? []) : [];
}

/** What a sandbox has that is no longer offered, one sentence each: it keeps it. */
export function notOffered({
  policy,
  workbook,
  workbook_version: version,
}: Pick<Instance, 'policy' | 'workbook' | 'workbook_version'>): string[] {
  const why = whyNotOffered(policy);
  const given = languagesOf(policy).length === 0 ? 'its files, and no commands' : 'its files, a shell and JavaScript';
  return [
    ...(why === null ? [] : [`Its policy “${policy}” ${why}. It keeps what that gives: ${given}.`]),
    ...(workbook === null || version !== null
      ? []
      : [`Its workbook “${workbook}” is a name and no more: dock it to one of its tenant’s workbooks, or to none.`]),
  ];
}
