import '../bws.js';
