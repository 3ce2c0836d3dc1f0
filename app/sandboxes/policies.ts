/** The capability profiles that a person chooses from, the default first, and what each is for. */
export const POLICY_CHOICES: readonly { name: string; says: string }[] = [
  { name: 'posix', says: 'shell, JavaScript, Python, archives' },
  { name: 'minimal', says: 'shell and JavaScript' },
  { name: 'compute', says: 'components only' },
];
