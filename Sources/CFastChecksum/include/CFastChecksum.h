// Replaces libavutil's `av_crc` for the CRC-32 of Matroska by libdeflate's: libavformat computes one over all
// data that it writes, and libavutil 5.1 to 7.1 takes as long for it as copying the file does. This target
// has no functions to call.
