/** The suite that every registry driver passes. */
import { describe } from 'vitest';
import { accessSuite } from './access-suite.ts';
import { copySuite } from './copy-suite.ts';
import { jobSuite } from './job-suite.ts';
import { ledgerSuite } from './ledger-suite.ts';
import { listSuite } from './list-suite.ts';
import type { Driver } from './make.ts';
import { peopleSuite } from './people-suite.ts';
import { quotaSuite } from './quota-suite.ts';
import { rowSuite } from './row-suite.ts';
import { segmentSuite } from './segment-suite.ts';
import { shareSuite } from './share-suite.ts';

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
