import { testFaults } from './faults.ts';

testFaults(1, 2);
