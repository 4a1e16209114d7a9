import '../nws.mjs';
