import { createElement } from 'react';
import { renderToStaticMarkup } from 'react-dom/server';
import { expect, test } from 'vitest';
import { STATES } from '#lib/lifecycle/state-map.ts';
import { SandboxDiagram, StateDiagram } from './state-diagram.tsx';
import { temperatureCounts } from './temperature.tsx';

const NONE = { created: 0, active: 0, suspended: 0, frozen: 0, archived: 0, deleted: 0 };

test('the warm are a part of the active, never more of them', () => {
  expect(temperatureCounts(1200, 20)).toEqual({ hot: '1,180 hot', warm: '20 warm' });
  expect(temperatureCounts(1, 2)).toEqual({ hot: '0 hot', warm: '1 warm' });
});

test('the diagram of an active sandbox shows whether it is hot or warm, and that of any other shows neither', () => {
  for (const temperature of ['hot', 'warm'] as const) {
    for (const current of STATES) {
      const drawn = renderToStaticMarkup(createElement(SandboxDiagram, { current, temperature, ephemeral: false }));
      const isActive = current === 'active';
      expect(drawn.includes(`this one is ${current}${isActive ? `, ${temperature}` : ''}"`), current).toBe(true);
      expect([drawn.includes('>hot<'), drawn.includes('>warm<')]).toEqual([isActive, isActive]);
    }
  }
});

test('the diagram of all sandboxes counts hot and warm inside active, and neither while nothing is active', () => {
  const draw = (active: number, warm: number) =>
    renderToStaticMarkup(createElement(StateDiagram, { counts: { ...NONE, active }, warm, rendered: 0 }));
  expect(draw(5, 2)).toContain('>3 hot<');
  expect(draw(5, 2)).toContain('aria-label="active: 5 sandboxes, 2 warm"');
  expect(draw(1, 0)).toContain('aria-label="active: 1 sandbox"');
  expect(draw(0, 0)).not.toContain('hot<');
});
