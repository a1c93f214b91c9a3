// Nothing: what a launch costs.
__kernel void empty(int nothing FM_RECORD_PARAMETERS) { FM_BEGIN; }
