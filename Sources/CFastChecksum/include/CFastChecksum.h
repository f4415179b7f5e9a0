// Replaces `av_crc` of libavutil by libdeflate for the CRC-32 of Matroska. libavformat computes this checksum over
// all data that it writes to Matroska, which takes as long as copying the file with FFmpeg 5.1 to 7.1. This target
// has no functions to call.
