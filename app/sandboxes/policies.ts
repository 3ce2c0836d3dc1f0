import type { Language } from '#components/terminal/words.ts';

/** The capability profiles that a person chooses from, the default first, and what each is for. */
export const POLICY_CHOICES: readonly { name: string; says: string }[] = [
  { name: 'posix', says: 'shell, JavaScript, Python, archives' },
  { name: 'minimal', says: 'shell and JavaScript' },
  { name: 'compute', says: 'components only' },
];

const LANGUAGES: Readonly<Record<string, readonly Language[]>> = {
  posix: ['shell', 'js', 'python'],
  minimal: ['shell', 'js'],
  network: ['shell', 'js'],
};

/** What may be typed into the terminal of a sandbox of this policy: nothing where it has no shell. */
export function languagesOf(policy: string): readonly Language[] {
  return Object.hasOwn(LANGUAGES, policy) ? (LANGUAGES[policy] ?? []) : [];
}
