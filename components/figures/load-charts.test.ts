import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';

const HERE = dirname(fileURLToPath(import.meta.url));

test('the charts ship at most 25 kB of script, whatever a page has besides', async () => {
  const bundle = await rolldown({
    input: join(HERE, 'load-charts.tsx'),
    // What every page has.
    external: [/^react/, /^next\//],
    resolve: { alias: { '#lib': join(HERE, '..', '..', 'lib') } },
    transform: { jsx: 'react-jsx' },
  });
  const { output } = await bundle.generate({ minify: true });
  await bundle.close();
  const bytes = output.reduce((sum, part) => sum + (part.type === 'chunk' ? Buffer.byteLength(part.code) : 0), 0);
  // It has to have what it draws, or the bundle is of something else.
  expect(output[0].code).toContain('Processor');
  expect(bytes).toBeGreaterThan(4000);
  expect(bytes).toBeLessThanOrEqual(25_000);
});
