import { expect, test } from 'vitest';
import { profileOf } from '#lib/instance/policies.ts';
import { languagesOf } from './policies.ts';

test.each(['posix', 'minimal', 'network', 'compute', 'never-heard-of'])(
  'the terminal offers what the engine runs under "%s"',
  (policy) => {
    const { capabilities } = profileOf(policy);
    const languages = (['shell', 'js', 'python'] as const).filter((language) => capabilities.includes(language));
    expect(languagesOf(policy)).toEqual(languages);
  },
);
