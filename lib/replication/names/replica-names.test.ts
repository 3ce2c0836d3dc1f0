import { expect, test } from 'vitest';
import { isObjectName } from '../../storage/object-store/object-names.ts';
import { compareSeries, newSeries, parseSegmentName, REGISTRY_ID, segmentName } from './replica-names.ts';

test('the name of a segment says whose it is, of which series, and what is in it', () => {
  const series = newSeries(3, 1_795_000_000_000);
  for (const id of ['sess-841', REGISTRY_ID]) {
    const place = { id, series, level: 0, min: 0x1f, max: 0x20 };
    const name = segmentName(place);
    expect(name).toMatch(/^replica\/[^/]+\/t3-[0-9a-z]{9}-[0-9a-f]{12}\/ltx\/0\/0{14}1f-0{14}20\.ltx$/);
    expect(isObjectName(name)).toBe(true);
    expect(parseSegmentName(name)).toEqual(place);
  }
});

test('what has another form is no segment', () => {
  const name = segmentName({ id: 'a', series: newSeries(1, 1), level: 0, min: 2, max: 2 });
  for (const wrong of [
    name.replace('replica/', 'replicas/'),
    name.replace('/ltx/0/', '/ltx/x/'),
    name.replace('000000000002-', '000000000003-'),
    name.replace('0000000000000002-', 'ffffffffffffffff-'),
    `${name}.tmp`,
    `x/${name}`,
  ]) {
    expect(parseSegmentName(wrong), wrong).toBeNull();
  }
});

test('a later series comes after an earlier one, and a later term after an earlier one', () => {
  const sorted = [newSeries(1, 5), newSeries(1, 1_000_000), newSeries(1, 1_795_000_000_000), newSeries(2, 1)];
  expect(sorted.toReversed().sort(compareSeries)).toEqual(sorted);
});

test('of series that begin within one millisecond the later one comes last', () => {
  const sorted = Array.from({ length: 300 }, () => newSeries(1, 1_795_000_000_000));
  expect(sorted.toReversed().sort(compareSeries)).toEqual(sorted);
});
