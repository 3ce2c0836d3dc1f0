/** The simulator: the form, the answer as a curve and a table, and its limits. */
import Form from 'next/form';
import Link from 'next/link';
import { TradeCurve } from '#app/settings/thresholds/trade-curve.tsx';
import { hoursInFigures, spanInWords, type TradePoint } from '#app/settings/thresholds/trade-layout.ts';
import { thresholdInWords } from '#components/ui/durations.ts';
import { Field } from '#components/ui/field.tsx';
import type { Caller } from '#lib/auth/caller.ts';
import { getHost } from '#lib/host/host.ts';
import { addressWith } from '../../search-params.ts';
import { caveatsOf, PERIODS, parseSimulationQuery, pointsOf, type SimulationQuery } from './simulation.ts';

const PATH = '/settings/thresholds';

function SimulatorForm({
  query,
  values,
  tenant,
}: {
  query: SimulationQuery;
  values: Readonly<Record<string, string>>;
  tenant: string | null;
}) {
  const { complaints } = query;
  return (
    <Form action={PATH} scroll={false} className="flex flex-wrap items-start gap-x-5 gap-y-3">
      {tenant !== null && <input type="hidden" name="tenant" value={tenant} />}
      {(['suspend', 'freeze'] as const).map((name) => (
        <Field
          key={name}
          form="simulate"
          name={name}
          title={name === 'suspend' ? 'If it suspended after' : 'and froze after'}
          error={complaints[name]}
          className="w-40"
        >
          {(props) => (
            <input
              {...props}
              key={query[name]}
              className="input"
              defaultValue={complaints[name] === undefined ? thresholdInWords(query[name]) : values[name]}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
            />
          )}
        </Field>
      ))}
      <Field form="simulate" name="days" title="in the last" className="w-32">
        {(props) => (
          <select {...props} key={query.days} className="input" defaultValue={query.days}>
            {PERIODS.map((days) => (
              <option key={days} value={days}>
                {spanInWords(days * 86_400)}
              </option>
            ))}
          </select>
        )}
      </Field>
      <button type="submit" className="button beside-fields">
        Compute
      </button>
    </Form>
  );
}

function Table({
  points,
  present,
  requested,
  addressOf,
}: {
  points: readonly TradePoint[];
  present: number;
  requested: number;
  addressOf: (threshold: number) => string;
}) {
  return (
    <table className="ledger">
      <thead>
        <tr>
          <th scope="col">Suspends after</th>
          <th scope="col" className="text-right whitespace-nowrap">
            Process-hours
          </th>
          <th scope="col" className="text-right whitespace-nowrap">
            Cold wakes
          </th>
          <th scope="col" className="text-right whitespace-nowrap max-sm:hidden">
            of them estimated
          </th>
          <th scope="col" className="text-right whitespace-nowrap max-sm:hidden">
            Thaws
          </th>
        </tr>
      </thead>
      <tbody>
        {points.map(({ threshold, would, estimated }, index) => (
          <tr key={threshold} className={index === requested ? 'font-[560]' : undefined}>
            <td>
              <Link
                href={addressOf(threshold)}
                prefetch={false}
                scroll={false}
                aria-current={index === requested ? 'true' : undefined}
              >
                {thresholdInWords(threshold)}
              </Link>
              {index === present && <span className="text-small font-normal text-ink-3"> now</span>}
            </td>
            <td className="text-right whitespace-nowrap">{hoursInFigures(would.process_hours)}</td>
            <td className="text-right whitespace-nowrap">{would.cold_wakes.toLocaleString('en')}</td>
            <td className="text-right whitespace-nowrap text-ink-2 max-sm:hidden">{estimated.toLocaleString('en')}</td>
            <td className="text-right whitespace-nowrap text-ink-2 max-sm:hidden">
              {would.thaws.toLocaleString('en')}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** `present`: the present thresholds, global or of the tenant. `values`: the address's parameters. */
export async function Simulator({
  caller,
  tenant,
  present,
  values,
}: {
  caller: Caller;
  tenant: string | null;
  present: { idle_to_suspend_s: number; idle_to_freeze_s: number };
  values: Readonly<Record<string, string>>;
}) {
  const query = parseSimulationQuery(values, present);
  const done = await getHost().operations.simulate(caller, {
    ...(tenant === null ? {} : { tenant }),
    idle_to_suspend_s: query.suspend,
    idle_to_freeze_s: query.freeze,
    days: query.days,
    curve: query.curve,
  });
  const points = pointsOf(done);
  const at = (threshold: number) => points.findIndex((point) => point.threshold === threshold);
  const caveats = caveatsOf(done, query.days);
  const addressOf = (threshold: number) =>
    addressWith(PATH, {
      ...(tenant === null ? {} : { tenant }),
      suspend: thresholdInWords(threshold),
      freeze: thresholdInWords(query.freeze),
      days: String(query.days),
    });
  return (
    <div className="grid gap-6">
      <SimulatorForm query={query} values={values} tenant={tenant} />
      {done.idle_ends > 0 && (
        <TradeCurve
          key={`${query.suspend} ${query.freeze} ${query.days}`}
          points={points}
          was={done.was}
          present={at(present.idle_to_suspend_s)}
          requested={at(query.suspend)}
          seconds={done.until - done.since}
        />
      )}
      {caveats.length > 0 && (
        <ul className="grid max-w-3xl gap-1 text-ink-2">
          {caveats.map((caveat) => (
            <li key={caveat}>{caveat}</li>
          ))}
        </ul>
      )}
      {done.idle_ends > 0 && (
        <>
          <Table
            points={points}
            present={at(present.idle_to_suspend_s)}
            requested={at(query.suspend)}
            addressOf={addressOf}
          />
          <p className="max-w-3xl text-small text-ink-3">
            As it was: {hoursInFigures(done.was.process_hours)} process-hours,{' '}
            {done.was.cold_wakes.toLocaleString('en')} cold wakes, {done.was.thaws.toLocaleString('en')} thaws, from{' '}
            {done.lines.toLocaleString('en')} lines of the ledger. What a longer threshold does is counted. What a
            shorter one does to gaps that nothing shows is estimated from gaps just above the threshold that held.
          </p>
        </>
      )}
    </div>
  );
}
