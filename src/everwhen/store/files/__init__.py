"""Files as people bring them and take them away: packed or plain, large or broken; and the frame of an export.

packed        opening what is compressed
json_values   lines and JSON values one by one, with bounds
private       files that only their owner may read
export        the first line of an export, and writing one so that it appears when it is whole
"""
