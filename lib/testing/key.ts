/** For tests: the admin's key of every server that they start. */
export const TEST_KEY = 'a-key-that-only-tests-know';
