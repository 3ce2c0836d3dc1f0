import { testFaults } from './faults.ts';

testFaults(0, 2);
