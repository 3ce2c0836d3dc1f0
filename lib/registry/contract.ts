/** The suite that every registry driver passes. */
import { describe } from 'vitest';
import { accessSuite } from './testing/access-suite.ts';
import { copySuite } from './testing/copy-suite.ts';
import { jobSuite } from './testing/job-suite.ts';
import { ledgerSuite } from './testing/ledger-suite.ts';
import { listSuite } from './testing/list-suite.ts';
import type { Driver } from './testing/make.ts';
import { peopleSuite } from './testing/people-suite.ts';
import { quotaSuite } from './testing/quota-suite.ts';
import { rowSuite } from './testing/row-suite.ts';
import { segmentSuite } from './testing/segment-suite.ts';
import { shareSuite } from './testing/share-suite.ts';

/** Runs the registry suite on a driver. */
export function registryContract(name: string, driver: Driver): void {
  describe(name, () => {
    describe('rows', () => rowSuite(driver));
    describe('lists', () => listSuite(driver));
    describe('copies', () => copySuite(driver));
    describe('ledger and ladder', () => ledgerSuite(driver));
    describe('access', () => accessSuite(driver));
    describe('people', () => peopleSuite(driver));
    describe('shares', () => shareSuite(driver));
    describe('quotas and wake times', () => quotaSuite(driver));
    describe('jobs', () => jobSuite(driver));
    describe('segments of the ledger', () => segmentSuite(driver));
  });
}
