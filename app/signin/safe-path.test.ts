import { expect, test } from 'vitest';
import { safePath } from './safe-path.ts';

test('after signing in only a path of this console is opened', () => {
  expect(safePath('/sandboxes?state=active')).toBe('/sandboxes?state=active');
  for (const path of [
    '',
    'sandboxes',
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/',
    'javascript:alert(1)',
    '/signin?to=/',
  ]) {
    expect(safePath(path), path).toBe('/');
  }
});
