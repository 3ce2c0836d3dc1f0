/** The points of the charts of load as a table, the newest first. */
import { callMark, type MarkedCall } from '../calls/call-mark.ts';
import { SCROLLABLE } from '../ui/scrollable.ts';
import { exactMoment } from '../ui/zones.ts';
import { CHARTS, type LoadPoint, valueInWords } from './load-layout.ts';

const ROWS = 60;

export function LoadTable({
  points,
  step,
  zone,
  address,
  exported,
}: {
  points: readonly LoadPoint[];
  step: number;
  zone: string;
  /** Of all of them, without the query that the call has. */
  address: string;
  exported: MarkedCall;
}) {
  const query = new URLSearchParams(Object.entries(exported.query ?? {}).map(([name, value]) => [name, String(value)]));
  const shown = points.slice(-ROWS).toReversed();
  return (
    <details className="mt-3">
      <summary className="cursor-pointer text-small">As a table</summary>
      <div className="mt-2 overflow-x-auto" {...SCROLLABLE}>
        <table className="ledger">
          <thead>
            <tr>
              <th scope="col">From</th>
              {CHARTS.map(({ name }) => (
                <th key={name} scope="col" className="text-right">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map((point) => (
              <tr key={point.time}>
                <td className="whitespace-nowrap">{exactMoment(point.time, zone)}</td>
                {CHARTS.map((chart) => (
                  <td key={chart.name} className="text-right whitespace-nowrap">
                    {valueInWords(chart, point, step) ?? '–'}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p className="mt-2 text-small">
        {points.length > shown.length && `The newest ${shown.length} of ${points.length}. `}
        <a href={`${address}?${query}`} {...callMark(exported)} download>
          All of them as CSV
        </a>
      </p>
    </details>
  );
}
